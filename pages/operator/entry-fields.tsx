// The fields of a trusted entry: name, issuer and permissions.
import { useContext, useState } from 'preact/hooks';
import { Problem } from '../shared/states.js';
import type { Definition, EntryForm, PolicyField } from './entry-values.js';
import { labelOf, leftOutInWords, limitOf } from './entry-values.js';
import { Check, Choice, Field, FieldProblems } from './form.js';
import { Folded, Mark, Sentence, Soft, WithCode } from './parts.js';
import { valueInWords } from './words.js';

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
      title="lower-case letters, digits, - and _"
      hint="Lower-case letters, digits, - and _. Pages, commands, logs and metrics use this name."
    />
  );
}

/** Names the property as messages and documents do. */
export function PropertyHint({ name, text }: { name: string; text: string }) {
  return (
    <>
      <code>{name}</code>: <Sentence text={text} />
    </>
  );
}

/**
 * Shows the fields that most entries need and those that this entry has. Each group's other fields are folded under their names.
 * @param definition the entry, or the values that are filled in
 */
export function PolicyFields({ form, definition }: { form: EntryForm; definition: Definition }) {
  const problems = useContext(FieldProblems);
  const control = (field: PolicyField) => (
    <Control key={field.name} field={field} value={definition[field.name]} at={field.name} />
  );
  return (
    <>
      {form.map(({ title, fields }) => {
        const isInView = ({ name, isExpected }: PolicyField) => isExpected || definition[name] !== undefined;
        const folded = fields.filter((field) => !isInView(field));
        return (
          <fieldset key={title} class="group card padded">
            <legend>{title}</legend>
            <div class="fields">{fields.filter(isInView).map(control)}</div>
            {folded.length > 0 && (
              <Folded
                hasProblem={folded.some(({ name }) => problems[name] !== undefined)}
                summary={
                  <>
                    More: <Soft>{folded.map(labelOf).join(' · ')}</Soft>
                  </>
                }
              >
                <div class="fields">{folded.map(control)}</div>
              </Folded>
            )}
          </fieldset>
        );
      })}
    </>
  );
}

interface ControlProps {
  field: PolicyField;
  value: unknown;
  /** The field's name in the form's data. */
  at: string;
}

function Control(props: ControlProps) {
  const { field, value, at } = props;
  const { kind, isRequired, range } = field;
  if (kind === 'structure' || kind === 'list') return <Limit {...props} />;
  const hint = <PropertyHint name={at} text={field.hint} />;
  const common = { name: at, label: labelOf(field), value: shownValue(value) };
  if (kind === 'flag' || kind === 'choice')
    return <Choice {...common} options={choicesOf(field)} hint={hint} />;
  return (
    <Field
      {...common}
      required={isRequired}
      hint={
        <>
          {hint}
          {!isRequired && <WithCode text={` Left empty: ${leftOutInWords(field)}.`} />}
        </>
      }
      {...(kind === 'number' && { type: 'number', min: range?.[0], max: range?.[1] })}
    />
  );
}

function shownValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '').replace(/^""$/, '');
}

function choicesOf(field: PolicyField) {
  const leftOut = { value: '', text: `Default: ${leftOutInWords(field).replaceAll('`', '')}` };
  if (field.kind === 'flag') return [leftOut, { value: 'true', text: 'Yes' }, { value: 'false', text: 'No' }];
  return [leftOut, ...(field.values ?? []).map((value) => ({ value, text: valueInWords(value) }))];
}

/** A missing list sets no limit. An empty list allows nothing. */
function Limit({ field, value, at }: ControlProps) {
  const { kind, isRequired } = field;
  const label = labelOf(field);
  const [isLimited, setLimited] = useState(isRequired || value !== undefined);
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
          Left out: <WithCode text={leftOutInWords(field)} />.
        </p>
      )}
      <p class="soft hint">
        <PropertyHint name={at} text={field.hint} />
      </p>
      {/* Hidden fields are not sent, but keep their values. */}
      <fieldset class="fields" hidden={!isLimited} disabled={!isLimited}>
        <Limited field={field} value={value} at={at} />
      </fieldset>
      <Problem>{useContext(FieldProblems)[at]}</Problem>
    </fieldset>
  );
}

function Limited({ field, value, at }: ControlProps) {
  const { members = [], kind, values } = field;
  if (kind === 'structure') {
    const given = (value ?? {}) as Definition;
    return (
      <>
        {members.map((member) => (
          <Control key={member.name} field={member} value={given[member.name]} at={`${at}.${member.name}`} />
        ))}
      </>
    );
  }
  const list = Array.isArray(value) ? value.map(String) : [];
  if (values !== undefined) return <Boxes at={at} values={values} chosen={list} />;
  return (
    <div class="field">
      <textarea
        name={at}
        rows={Math.max(2, list.length + 1)}
        spellcheck={false}
        aria-label={labelOf(field)}
        defaultValue={list.join('\n')}
      />
      <p class="soft hint">One per line.</p>
    </div>
  );
}

function Boxes({ at, values, chosen }: { at: string; values: readonly string[]; chosen: string[] }) {
  const [count, setCount] = useState(chosen.length);
  return (
    <div class="field">
      {values.map((value) => (
        <div key={value} class="check">
          <Check
            name={at}
            label={valueInWords(value)}
            value={value}
            isChecked={chosen.includes(value)}
            onChange={(isChecked) => setCount(count + (isChecked ? 1 : -1))}
          />
          {valueInWords(value) !== value && <code class="soft nowrap">{value}</code>}
        </div>
      ))}
      {count === 0 && (
        <p>
          <Mark kind="warn">None is ticked</Mark> The entry allows none of them.
        </p>
      )}
    </div>
  );
}
