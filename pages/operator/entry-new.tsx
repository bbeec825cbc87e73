// Adds a trusted entry in three steps: whose tokens they are, what they may do, and a check before it is stored; or as JSON.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { AnswerOf } from './api.js';
import { call } from './api.js';
import { IdentityFields, PolicyFields } from './entry-fields.js';
import type { Definition, EntryForm, Labels } from './entry-values.js';
import { IDENTITY, identityIn, labelsOf, policyIn, sortProblems } from './entry-values.js';
import { Explanation } from './explanation.js';
import { Choice, FieldProblems, Form, TextField } from './form.js';
import { textIn } from './form-data.js';
import { BusyButton } from '../shared/states.js';
import { address, goTo } from './navigation.js';
import { PageHead, Phrases, Section } from './parts.js';
import { Loaded, ProblemPlace, problemOf, useAttempt } from './states.js';
import { byLabels } from './words.js';

type Overview = AnswerOf<'GET /overview'>;
type Checked = AnswerOf<'POST /entries/check'>;

const STEPS = ['Whose tokens', 'What they may do', 'Check'];
const LAST = STEPS.length - 1;
const HOW = [
  { value: 'form', text: 'In three steps' },
  { value: 'json', text: 'As JSON' },
];
const CANCEL = (
  <a class="button" href="#/entries">
    Cancel
  </a>
);

export function NewEntryView() {
  const [how, setHow] = useState('form');
  return (
    <Loaded load={(signal) => call('GET /overview', { signal })}>
      {(overview) => (
        <>
          <PageHead
            title="Add a trusted entry"
            back={{ href: '#/entries', text: 'Trusted entries' }}
            lead={`All instances accept its tokens as soon as it is added. ${
              overview.strict
                ? 'This instance is strict: what an entry does not allow is refused.'
                : 'What an entry does not limit is allowed.'
            }`}
          />
          <div class="narrow how">
            <Choice name="how" label="How" options={HOW} value="form" onChange={setHow} />
          </div>
          {how === 'form' ? <StepForm overview={overview} /> : <JsonForm />}
        </>
      )}
    </Loaded>
  );
}

function showAdded({ name }: AnswerOf<'POST /entries'>): void {
  goTo(`${address('#/entries/?', `stored:${name}`)}?added`);
}

function JsonForm() {
  const send = async (data: FormData) =>
    call('POST /entries', { body: { entry: jsonIn(textIn(data, 'json')) } });
  return (
    <Form button="Add entry" asksToLeave beside={CANCEL} send={send} done={showAdded}>
      <TextField
        name="json"
        label="Entry as JSON"
        required
        rows={16}
        placeholder={'{\n  "type": "static",\n  "name": "acme",\n  …\n}'}
        hint="All properties as in SVC_TOKEN_EXCHANGE_TRUSTED_KEYS, with a name."
      />
    </Form>
  );
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw problemOf(`This is no JSON: ${(error as Error).message}.`);
  }
}

function StepForm({ overview }: { overview: Overview }) {
  const { baseUrl, entryForm, keyAlgorithms } = overview;
  const [step, setStep] = useState(0);
  const [atFields, setAtFields] = useState<Readonly<Record<string, string>>>({});
  const [checked, setChecked] = useState<Checked | undefined>(undefined);
  const whole = useRef<HTMLDivElement>(null);
  const fields = entryForm.flatMap((group) => group.fields);
  const entryIn = (data: FormData): Definition => ({ ...identityIn(data), ...policyIn(data, fields) });
  const shown = () => whole.current?.querySelectorAll<HTMLFieldSetElement>('.step')[step];
  useLayoutEffect(() => shown()?.querySelector<HTMLElement>('input, select, textarea')?.focus(), [step]);

  const check = async (data: FormData) => {
    const found = await call('POST /entries/check', { body: { entry: entryIn(data) } });
    const { atFields: told, problem } = problemsIn(found, entryForm);
    setAtFields(told);
    if (problem === undefined) return setChecked(found);
    const names = Object.keys(told);
    if (names.length > 0) setStep(names.some((name) => IDENTITY.includes(name)) ? 0 : 1);
    throw problem;
  };
  const send = async (data: FormData) => {
    const wrong = shown()?.querySelector<HTMLInputElement>(':is(input, select, textarea):invalid');
    if (step < LAST && wrong) return void wrong.reportValidity();
    if (step === LAST) return call('POST /entries', { body: { entry: entryIn(data) } });
    if (step === LAST - 1) await check(data);
    return setStep(step + 1);
  };
  const beside = <Buttons goBack={step > 0 && (() => setStep(step - 1))} />;
  const parts = [
    <IdentityFields algorithms={keyAlgorithms} />,
    <PolicyFields form={entryForm} definition={{ expectedAudience: baseUrl }} isNew />,
    checked && <Review checked={checked} entryIn={entryIn} labels={labelsOf(entryForm)} />,
  ];
  return (
    <div ref={whole}>
      <FieldProblems.Provider value={atFields}>
        <Form
          button={step === LAST ? 'Add entry' : 'Next'}
          asksToLeave
          noValidate
          beside={beside}
          send={send}
          done={(added) => added && showAdded(added)}
        >
          <Steps current={step} />
          {parts.map((part, index) => (
            <fieldset key={index} class="step" hidden={index !== step}>
              <legend class="unseen">{STEPS[index]}</legend>
              {part}
            </fieldset>
          ))}
        </Form>
      </FieldProblems.Provider>
    </div>
  );
}

/** What is wrong at which fields, and above them. */
function problemsIn({ problems }: Checked, entryForm: EntryForm) {
  const names = entryForm.flatMap(({ fields }) => fields.map(({ name }) => name));
  const { atFields, others } = sortProblems(problems, [...IDENTITY, ...names], labelsOf(entryForm));
  const text = others.length > 0 ? others.join('\n') : 'Some fields are not right yet.';
  return { atFields, problem: problems.length === 0 ? undefined : problemOf(text) };
}

function Buttons({ goBack }: { goBack: false | (() => void) }) {
  return (
    <>
      {goBack && (
        <button type="button" onClick={goBack}>
          Back
        </button>
      )}
      {CANCEL}
    </>
  );
}

function Steps({ current }: { current: number }) {
  return (
    <ol class="steps" role="list" aria-label="Steps">
      {STEPS.map((title, index) => (
        <li key={title} aria-current={index === current ? 'step' : undefined}>
          {index + 1}. {title}
        </li>
      ))}
    </ol>
  );
}

interface ReviewProps {
  checked: Checked;
  labels: Labels;
  entryIn: (data: FormData) => Definition;
}

function Review({ checked: { policy, warnings, notes }, labels, entryIn }: ReviewProps) {
  const told = [...warnings, ...notes].map((text) => byLabels(text, labels));
  return (
    <>
      <Section title="What its tokens may do">
        <Phrases items={policy} />
      </Section>
      {told.length > 0 && <Phrases items={told} look="flash phrases" />}
      <Section title="Try a token of the partner">
        <TokenTrial entryIn={entryIn} />
      </Section>
    </>
  );
}

/** The token is checked as if the entry were stored already. */
function TokenTrial({ entryIn }: Pick<ReviewProps, 'entryIn'>) {
  const { isBusy, problem, attempt } = useAttempt();
  const place = useRef<HTMLDivElement>(null);
  const [explanation, setExplanation] = useState<Checked['explanation']>(null);
  const check = () =>
    attempt(async () => {
      const form = place.current?.closest('form');
      if (!form) return;
      const data = new FormData(form);
      const body = { entry: entryIn(data), token: textIn(data, 'test token') };
      const found = await call('POST /entries/check', { body });
      setExplanation(found.explanation);
    });
  return (
    <div ref={place} class="fields">
      <TextField
        name="test token"
        label="Test token"
        hint="Optional. The token is checked as if the entry existed; it is not used up, stored or logged. The keys of a key set are fetched once the entry is added; until then such a token has an unknown key."
      />
      <ProblemPlace error={problem} />
      <div class="buttons">
        <BusyButton isBusy={isBusy} act={() => void check()}>
          Check this token
        </BusyButton>
      </div>
      {explanation !== null && <Explanation explanation={explanation} />}
    </div>
  );
}
