// Forms and their fields. What is typed stays in the document until a form is sent: it is read from the form's data.
import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { ProblemPlace, useAttempt } from './states.js';

/** What is wrong at fields, by their names. */
export const FieldProblems = createContext<Readonly<Record<string, string>>>({});

export interface Option {
  value: string;
  text: string;
}

interface FormProps<Result> {
  button: string;
  send: (data: FormData) => Promise<Result>;
  done: (result: Result) => void;
  /** Other buttons. */
  beside?: ComponentChildren;
  /** It finds something, and looks as this class says. */
  search?: 'find' | 'filters';
  /** What is typed is worth keeping if the sign-in ends meanwhile. */
  isKept?: boolean;
  /** It is asked about before it is left. */
  asksToLeave?: boolean;
  /** `send` checks fields by itself. */
  noValidate?: boolean;
  class?: string;
  onReset?: () => void;
  children: ComponentChildren;
}

/** A form that is sent once at a time, and says what went wrong. */
export function Form<Result>(props: FormProps<Result>) {
  const { button, send, done, beside, search, isKept = search === undefined, asksToLeave } = props;
  const { isBusy, problem, attempt, forget } = useAttempt();
  const submit = (event: Event) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    void attempt(async () => done(await send(data)));
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

/** What the control of a field needs to be found with its label, hint and problem. */
function useField({ name, hint }: Pick<Labelled, 'name' | 'hint'>) {
  const id = useId();
  const problem = useContext(FieldProblems)[name];
  const described = hint ? `${id}-hint` : undefined;
  return {
    id,
    problem,
    control: {
      id,
      name,
      'aria-describedby': described,
      'aria-invalid': problem === undefined ? undefined : true,
    },
  };
}

type Made = ReturnType<typeof useField>;

function Whole({
  field,
  label,
  hint,
  required,
  children,
}: Omit<Labelled, 'name'> & { field: Made; children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={field.id} class={required ? 'required' : undefined}>
        {label}
      </label>
      {children}
      {hint && (
        <p id={`${field.id}-hint`} class="soft hint">
          {hint}
        </p>
      )}
      <FieldProblem text={field.problem} />
    </div>
  );
}

export function FieldProblem({ text }: { text: string | undefined }) {
  return (
    text !== undefined && (
      <p class="problem" role="alert">
        {text}
      </p>
    )
  );
}

interface FieldProps extends Labelled {
  type?: 'text' | 'email' | 'password' | 'search' | 'url' | 'number';
  /** At first. */
  value?: string;
  autocomplete?: string;
  placeholder?: string;
  pattern?: string;
  title?: string;
  list?: string;
  readOnly?: boolean;
  min?: number;
  max?: number;
}

/** A field for one line, as it is typed. */
export function Field({ name, label, hint, value = '', ...attributes }: FieldProps) {
  const field = useField({ name, hint });
  return (
    <Whole field={field} label={label} hint={hint} required={attributes.required}>
      <input
        autocapitalize="none"
        spellcheck={false}
        defaultValue={value}
        {...(attributes as object)}
        {...field.control}
      />
    </Whole>
  );
}

/** For tokens, keys and JSON. */
export function TextField({
  name,
  label,
  hint,
  value = '',
  ...attributes
}: Labelled & { value?: string; rows?: number; placeholder?: string }) {
  const field = useField({ name, hint });
  const typing = { spellcheck: false, autocomplete: 'off', autocapitalize: 'none' } as const;
  return (
    <Whole field={field} label={label} hint={hint} required={attributes.required}>
      <textarea class="mono" rows={4} {...typing} defaultValue={value} {...attributes} {...field.control} />
    </Whole>
  );
}

interface ChoiceProps extends Labelled {
  options: readonly Option[];
  /** At first. */
  value?: string;
  onChange?: (value: string) => void;
}

export function Choice({ name, label, hint, options, value = '', onChange }: ChoiceProps) {
  const field = useField({ name, hint });
  return (
    <Whole field={field} label={label} hint={hint}>
      <select {...field.control} onChange={({ currentTarget }) => onChange?.(currentTarget.value)}>
        <Options options={options} value={value} />
      </select>
    </Whole>
  );
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
  /** Says to assistive technology what the box is about, where its text is the same as others'. */
  spoken?: string;
  onChange?: (isChecked: boolean) => void;
}

/** A box beside what it says. */
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
