// Asks for confirmation of an action that cannot be undone or that others notice at once, and performs it.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { plainText } from '../shared/format.js';
import { BusyButton } from '../shared/states.js';
import { ProblemPlace, useAttempt } from './states.js';

export interface Question<Result = unknown> {
  title: string;
  text: ComponentChildren;
  action: string;
  isDanger?: boolean;
  run: () => Promise<Result>;
}

interface Asked extends Question {
  outcome?: { result: unknown };
  answer: (outcome: { result: unknown } | undefined) => void;
}

const asked = signal<Asked | null>(null);

/** @returns the result of `run`; undefined if the operator cancels */
export function confirm<Result>(question: Question<Result>): Promise<{ result: Result } | undefined> {
  closeDialog();
  return new Promise((resolve) => {
    const answer = (outcome: { result: unknown } | undefined) => resolve(outcome as { result: Result });
    asked.value = { ...question, answer };
  });
}

/** Closes the dialog. `confirm` returns the result if the action was performed, otherwise undefined. */
export function closeDialog(): void {
  const { value: open } = asked;
  asked.value = null;
  open?.answer(open.outcome);
}

/** Renders the open dialog. */
export function DialogPlace() {
  return asked.value && <Dialog key={asked.value.title} question={asked.value} />;
}

function Dialog({ question }: { question: Asked }) {
  const place = useRef<HTMLDialogElement>(null);
  const { isBusy, problem, attempt } = useAttempt();
  const { title, text, action, isDanger = false, run } = question;
  // A modal dialog returns the focus to the element that had it.
  useLayoutEffect(() => {
    const dialog = place.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const act = async () => {
    const isDone = await attempt(async () => {
      question.outcome = { result: await run() };
    });
    if (isDone) closeDialog();
  };
  return (
    <dialog
      ref={place}
      class="card"
      aria-labelledby="dialog-title"
      aria-describedby="dialog-text"
      onCancel={closeDialog}
    >
      <h2 id="dialog-title">{plainText(title)}</h2>
      <div id="dialog-text" class="dialog-text">
        {text}
      </div>
      <ProblemPlace error={problem} />
      <div class="buttons">
        <button type="button" autofocus onClick={closeDialog}>
          Cancel
        </button>
        <BusyButton class={isDanger ? 'danger' : 'primary'} isBusy={isBusy} act={() => void act()}>
          {action}
        </BusyButton>
      </div>
    </dialog>
  );
}

interface ActionProps<Result> extends Question<Result> {
  /** Receives the result. */
  done: (result: Result) => void;
  /** The name for assistive technology, if other buttons have the same text. */
  label?: string;
  isSmall?: boolean;
  /** The button's text. The dialog's button has `action`. */
  children?: ComponentChildren;
}

/** A button that asks for confirmation. */
export function ActionButton<Result>({
  done,
  label,
  isSmall = false,
  children,
  ...question
}: ActionProps<Result>) {
  const ask = async () => {
    const outcome = await confirm(question);
    if (outcome !== undefined) done(outcome.result);
  };
  const look = [question.isDanger && 'danger', isSmall && 'small'].filter(Boolean).join(' ');
  return (
    <button type="button" class={look} aria-label={label} onClick={() => void ask()}>
      {children ?? question.action}
    </button>
  );
}
