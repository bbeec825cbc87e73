// The fields of a trusted entry: what tells it from others, and what its tokens may do.
import type { ComponentChildren } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { Check, Choice, Field, FieldProblem, FieldProblems, TextField } from './form.js';
import type { Definition, EntryForm, Labels, PolicyField } from './entry-values.js';
import { labelOf, labelsOf, leftOutInWords, limitOf } from './entry-values.js';
import { WithCode } from './parts.js';
import { byLabels, sentenceOf, valueInWords } from './words.js';

const KINDS_OF_KEYS = [
  { value: 'jwks', text: 'A key set that the partner publishes' },
  { value: 'static', text: 'One public key' },
];

export function IssuerField() {
  return (
    <Field
      name="issuer"
      label="Issuer"
      type="url"
      required
      hint="The iss claim of its tokens, character by character."
    />
  );
}

export function NameField() {
  return (
    <Field
      name="name"
      label="Name"
      required
      pattern="[a-z0-9][a-z0-9_\-]*"
      title="small letters, digits, - and _"
      hint="Lower-case letters, digits, - and _. Pages, commands, logs and metrics use this name."
    />
  );
}

export function KeyFields({ algorithms }: { algorithms?: readonly string[] }) {
  return (
    <>
      <Field name="kid" label="Key id" required hint="The kid in the header of its tokens." />
      {algorithms && (
        <Choice
          name="algorithms"
          label="Algorithm"
          value="ES256"
          options={algorithms.map((value) => ({ value, text: value }))}
        />
      )}
      <TextField
        name="key"
        label="Public key"
        required
        rows={6}
        placeholder="-----BEGIN PUBLIC KEY-----"
        hint="PEM. A private key never belongs here."
      />
    </>
  );
}

/** What tells an entry from others, and its keys. */
export function IdentityFields({ algorithms }: { algorithms: readonly string[] }) {
  const [type, setType] = useState('jwks');
  return (
    <Group title="Whose tokens">
      <NameField />
      <IssuerField />
      <Choice name="type" label="Keys" options={KINDS_OF_KEYS} value="jwks" onChange={setType} />
      <Part isShown={type === 'jwks'}>
        <Field
          name="url"
          label="Address of the key set"
          type="url"
          required
          hint="An https: address of the partner. The instance fetches it regularly."
        />
      </Part>
      <Part isShown={type === 'static'}>
        <KeyFields algorithms={algorithms} />
      </Part>
    </Group>
  );
}

/** Fields that are sent only while they are shown. What was typed stays. */
function Part({ isShown, children }: { isShown: boolean; children: ComponentChildren }) {
  return (
    <fieldset class="fields" hidden={!isShown} disabled={!isShown}>
      {children}
    </fieldset>
  );
}

function Group({
  title,
  children,
  more,
}: {
  title: string;
  children: ComponentChildren;
  more?: ComponentChildren;
}) {
  return (
    <fieldset class="group card padded">
      <legend>{title}</legend>
      <div class="fields">{children}</div>
      {more}
    </fieldset>
  );
}

interface PolicyProps {
  form: EntryForm;
  /** The entry as it is, or what is filled in. */
  definition: Definition;
  /** A new entry begins with what most entries need. */
  isNew?: boolean;
}

/** What most entries need, and what an entry has, is in view; the rest of each group is folded, under the names of its fields. */
export function PolicyFields({ form, definition, isNew = false }: PolicyProps) {
  const labels = labelsOf(form);
  const problems = useContext(FieldProblems);
  const control = (field: PolicyField) => (
    <Control
      key={field.name}
      field={field}
      value={definition[field.name]}
      at={field.name}
      labels={labels}
      isNew={isNew}
    />
  );
  return (
    <>
      {form.map(({ title, fields }) => {
        const isInView = ({ name, isExpected }: PolicyField) => isExpected || definition[name] !== undefined;
        const folded = fields.filter((field) => !isInView(field));
        const more = folded.length > 0 && (
          <details open={folded.some(({ name }) => problems[name] !== undefined)}>
            <summary>
              More: <span class="soft">{folded.map(labelOf).join(' · ')}</span>
            </summary>
            <div class="fields">{folded.map(control)}</div>
          </details>
        );
        return (
          <Group key={title} title={title} more={more}>
            {fields.filter(isInView).map(control)}
          </Group>
        );
      })}
    </>
  );
}

interface ControlProps {
  field: PolicyField;
  value: unknown;
  /** The name in the form's data. */
  at: string;
  labels: Labels;
  isNew: boolean;
}

function Control(props: ControlProps) {
  const { field, value, at, labels } = props;
  const { kind, isRequired, range } = field;
  const label = labelOf(field);
  const hint = <WithCode text={sentenceOf(byLabels(field.hint, labels))} />;
  if (kind === 'structure' || kind === 'list') return <Limit {...props} />;
  if (kind === 'flag' || kind === 'choice')
    return (
      <Choice
        name={at}
        label={label}
        options={choicesOf(field, labels)}
        value={shownValue(value)}
        hint={kind === 'choice' && hint}
      />
    );
  return (
    <Field
      name={at}
      label={label}
      value={shownValue(value)}
      required={isRequired}
      hint={
        <>
          {hint}
          {!isRequired && <WithCode text={` Left empty: ${leftOutInWords(field, labels)}.`} />}
        </>
      }
      {...(kind === 'number' && { type: 'number', min: range?.[0], max: range?.[1] })}
    />
  );
}

function shownValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '').replace(/^""$/, '');
}

function choicesOf(field: PolicyField, labels: Labels) {
  const leftOut = { value: '', text: `As the instance has it: ${leftOutInWords(field, labels)}` };
  if (field.kind === 'flag') return [leftOut, { value: 'true', text: 'Yes' }, { value: 'false', text: 'No' }];
  return [leftOut, ...(field.values ?? []).map((value) => ({ value, text: valueInWords(value) }))];
}

/** A list that is left out does not limit; an empty one allows nothing. */
function Limit(props: ControlProps) {
  const { field, value, at, labels, isNew } = props;
  const { kind, isRequired, isExpected } = field;
  const label = labelOf(field);
  const [isLimited, setLimited] = useState(isRequired || value !== undefined || (isNew && isExpected));
  const text = kind === 'structure' ? 'With these settings' : 'Only these';
  return (
    <fieldset class="list-field">
      <legend class={isRequired ? 'required' : undefined}>{label}</legend>
      {!isRequired && (
        <Check
          name={limitOf(at)}
          label={text}
          isChecked={isLimited}
          spoken={`${text}: ${label}`}
          onChange={setLimited}
        />
      )}
      {!isLimited && (
        <p class="soft hint">
          Left out: <WithCode text={leftOutInWords(field, labels)} />.
        </p>
      )}
      <Part isShown={isLimited}>
        <Limited {...props} />
      </Part>
      <FieldProblem text={useContext(FieldProblems)[at]} />
    </fieldset>
  );
}

function Limited({ field, value, at, labels, isNew }: ControlProps) {
  const hint = <WithCode text={sentenceOf(byLabels(field.hint, labels))} />;
  if (field.kind === 'structure') {
    const values = (value ?? {}) as Definition;
    return (
      <>
        {(field.members ?? []).map((member) => (
          <Control
            key={member.name}
            field={member}
            value={values[member.name]}
            at={`${at}.${member.name}`}
            labels={labels}
            isNew={isNew}
          />
        ))}
      </>
    );
  }
  const list = Array.isArray(value) ? value.map(String) : [];
  if (field.values !== undefined) return <Boxes at={at} values={field.values} chosen={list} hint={hint} />;
  return (
    <div class="field">
      <textarea
        name={at}
        rows={Math.max(2, list.length + 1)}
        spellcheck={false}
        aria-label={labelOf(field)}
        defaultValue={list.join('\n')}
      />
      <p class="soft hint">One a line. {hint}</p>
    </div>
  );
}

interface BoxesProps {
  at: string;
  values: readonly string[];
  chosen: readonly string[];
  hint: ComponentChildren;
}

function Boxes({ at, values, chosen, hint }: BoxesProps) {
  const [count, setCount] = useState(chosen.length);
  return (
    <div class="field">
      {values.map((value) => (
        <Check
          key={value}
          name={at}
          label={valueInWords(value)}
          value={value}
          isChecked={chosen.includes(value)}
          onChange={(isChecked) => setCount(count + (isChecked ? 1 : -1))}
        />
      ))}
      {count === 0 && <p class="hint warned">None is ticked, so the entry allows none of them.</p>}
      <p class="soft hint">{hint}</p>
    </div>
  );
}
