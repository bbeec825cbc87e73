// Forms and their fields. The document keeps the input, which is read when the form is sent.
import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { Problem } from '../shared/states.js';
import { ProblemPlace, useAttempt } from './states.js';

/** The problems of fields, by name. */
export const FieldProblems = createContext<Readonly<Record<string, string>>>({});

export interface Option {
  value: string;
  text: string;
}

interface FormProps<Result> {
  button: string;
  send: (data: FormData, form: HTMLFormElement) => Promise<Result>;
  done: (result: Result) => void;
  /** Other buttons. */
  beside?: ComponentChildren;
  /** Marks a search form, with the class of its look. */
  search?: 'find' | 'filters';
  /** Keeps the input if the sign-in ends. */
  isKept?: boolean;
  /** Asks before the operator leaves the form. */
  asksToLeave?: boolean;
  /** `send` checks the fields. */
  noValidate?: boolean;
  class?: string;
  onReset?: () => void;
  children: ComponentChildren;
}

/** A form that is sent once at a time and shows its problems. */
export function Form<Result>(props: FormProps<Result>) {
  const { button, send, done, beside, search, isKept = search === undefined, asksToLeave } = props;
  const { isBusy, problem, attempt, forget } = useAttempt();
  const submit = (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    void attempt(async () => done(await send(new FormData(form), form)));
  };
  const mark = (form: HTMLFormElement, isTouched: boolean) => {
    if (isTouched) form.dataset['touched'] = '';
    else delete form.dataset['touched'];
  };
  const look = search === undefined ? props.class : `${search} card padded`;
  return (
    <form
      class={`form ${look ?? ''}`}
      role={search && 'search'}
      autocomplete="off"
      noValidate={props.noValidate}
      data-kept={isKept || undefined}
      data-asks-to-leave={asksToLeave}
      onSubmit={submit}
      onInput={({ currentTarget }) => {
        mark(currentTarget, true);
        forget();
      }}
      onReset={({ currentTarget }) => {
        mark(currentTarget, false);
        props.onReset?.();
      }}
    >
      {props.children}
      <ProblemPlace error={problem} isFocused />
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={isBusy}>
          {button}
        </button>
        {beside}
      </div>
    </form>
  );
}

interface Labelled {
  name: string;
  label: string;
  hint?: ComponentChildren;
  required?: boolean;
}

/** @param control receives the attributes that connect it with its label, hint and problem */
function Whole(props: Labelled & { control: (found: object) => ComponentChildren }) {
  const { name, label, hint, required, control } = props;
  const id = useId();
  const problem = useContext(FieldProblems)[name];
  const described = hint ? `${id}-hint` : undefined;
  const invalid = problem === undefined ? undefined : true;
  return (
    <div class="field">
      <label for={id} class={required ? 'required' : undefined}>
        {label}
      </label>
      {control({ id, name, required, 'aria-describedby': described, 'aria-invalid': invalid })}
      {hint && (
        <p id={described} class="soft hint">
          {hint}
        </p>
      )}
      <Problem>{problem}</Problem>
    </div>
  );
}

interface FieldProps extends Labelled {
  type?: 'text' | 'email' | 'password' | 'search' | 'url' | 'number';
  /** The initial value. */
  value?: string;
  autocomplete?: string;
  placeholder?: string;
  pattern?: string;
  title?: string;
  list?: string;
  readOnly?: boolean;
  min?: number;
  max?: number;
  /** The number of lines. */
  rows?: number;
}

/** A field for one line, or for several, such as tokens, keys and JSON. */
export function Field({ name, label, hint, required, value = '', rows, ...attributes }: FieldProps) {
  const typing: object = { autocapitalize: 'none', spellcheck: false, defaultValue: value, ...attributes };
  const control = (found: object) =>
    rows === undefined ? (
      <input {...typing} {...found} />
    ) : (
      <textarea class="mono" rows={rows} {...typing} {...found} />
    );
  return <Whole {...{ name, label, hint, required, control }} />;
}

interface ChoiceProps extends Labelled {
  options: readonly Option[];
  /** The initial value. */
  value?: string;
  onChange?: (value: string) => void;
}

export function Choice({ name, label, hint, options, value = '', onChange }: ChoiceProps) {
  const control = (found: object) => (
    <select {...found} onChange={({ currentTarget }) => onChange?.(currentTarget.value)}>
      <Options options={options} value={value} />
    </select>
  );
  return <Whole {...{ name, label, hint, control }} />;
}

export function Options({ options, value }: { options: readonly Option[]; value: string }) {
  return (
    <>
      {options.map((option) => (
        <option key={option.value} value={option.value} selected={option.value === value}>
          {option.text}
        </option>
      ))}
    </>
  );
}

interface CheckProps {
  name: string;
  label: string;
  value?: string;
  isChecked?: boolean;
  /** The name for assistive technology, if other boxes have the same text. */
  spoken?: string;
  onChange?: (isChecked: boolean) => void;
}

/** A box with its label. */
export function Check({ name, label, value = 'on', isChecked = false, spoken, onChange }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        name={name}
        value={value}
        defaultChecked={isChecked}
        aria-label={spoken}
        onChange={({ currentTarget }) => onChange?.(currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}
