// Steps 1 and 2 of "Add a partner": issuer, key and permissions. Problems are shown while the operator types.
import { useRef, useState } from 'preact/hooks';
import {
  PARTNER_QUESTIONS,
  PARTNER_ROLES,
  recommended,
} from '../../../src/administration/partners/partner-entry.js';
import { BusyButton, Problem } from '../../shared/states.js';
import type { AnswerOf } from '../api.js';
import { call } from '../api.js';
import { IssuerField, NameField, PolicyFields, PropertyHint } from '../entry-fields.js';
import { sortProblems } from '../entry-values.js';
import { Explanation } from '../explanation.js';
import { Choice, Field, FieldProblems, Form } from '../form.js';
import { textIn } from '../form-data.js';
import { Arrival, Folded, Phrases, Section } from '../parts.js';
import { problemOf, useAttempt } from '../states.js';
import { roleInWords } from '../words.js';
import { CodeBlock } from './code-block.js';
import type { OwnPair } from './own-pair.js';
import { newPair } from './own-pair.js';
import type { Kind, ReadKey } from './partner-values.js';
import { entryIn, fieldNames, isPrivateKey, keysIn, otherFields } from './partner-values.js';

export type Entry = ReturnType<typeof entryIn>;
type Overview = AnswerOf<'GET /overview'>;
type Checked = AnswerOf<'POST /entries/check'>;
type KeySet = AnswerOf<'POST /partners/key-set'>;

const KINDS: readonly { value: Kind; text: string }[] = [
  { value: 'jwks', text: 'The address of its key set' },
  { value: 'key', text: 'Its public key, as PEM or JWK' },
  { value: 'pair', text: 'A new key pair' },
];
const ROLES = PARTNER_ROLES.map((value) => ({ value, text: roleInWords(value) }));
const NOT_GIVEN = 'Must be a non-empty string.';
const AS_THE_KEY = { value: '', text: 'The default for the key' };
const BURNT =
  'This is a private key. It was not sent, but only its owner may have it. The owner must create a new key, and send its public key.';

export interface Chosen {
  entry: Entry;
  kid: string;
  algorithm: string;
  isStored: boolean;
  warnings: readonly string[];
}

interface Findings extends Pick<Checked, 'policy' | 'warnings' | 'explanation'> {
  entry: Entry;
  atFields: Readonly<Record<string, string>>;
  others: readonly string[];
  read?: ReadKey;
  keySet?: KeySet;
}

interface PartnerFormProps {
  overview: Overview;
  pair: OwnPair | undefined;
  setPair: (pair: OwnPair) => void;
  done: (chosen: Chosen) => void;
}

export function PartnerForm({ overview, pair, setPair, done }: PartnerFormProps) {
  const [kind, setKind] = useState<Kind>('jwks');
  const [found, setFound] = useState<Findings | undefined>(undefined);
  const latest = useRef(0);
  const isStoring = useRef(true);

  /** @param isWhole whether empty fields have problems too */
  const check = async (data: FormData, isWhole: boolean) => {
    const turn = (latest.current += 1);
    const findings = await findingsOf(data, { overview, kind, pair, isWhole });
    if (turn === latest.current) setFound(findings);
    return findings;
  };
  const live = (event: Event) => {
    const form = (event.target as HTMLElement).closest('form');
    if (form) void check(new FormData(form), false).catch(() => undefined);
  };
  const send = async (data: FormData): Promise<Chosen> => {
    const isStored = isStoring.current;
    isStoring.current = true;
    const { entry, atFields, others, warnings, read, keySet } = await check(data, true);
    if (kind === 'pair' && pair === undefined) throw problemOf('Create the key pair first.');
    if (Object.keys(atFields).length > 0) throw problemOf('Some fields have problems.');
    if (others.length > 0) throw problemOf(others.join('\n'));
    if (isStored) await call('POST /entries', { body: { entry } });
    return { entry, ...signerOf(entry, read, keySet), isStored, warnings };
  };
  return (
    <FieldProblems.Provider value={found?.atFields ?? {}}>
      <div onChange={live}>
        <Form
          button="Store the entry"
          asksToLeave
          noValidate
          send={send}
          done={done}
          beside={
            <button type="submit" onClick={() => (isStoring.current = false)}>
              Go on without storing
            </button>
          }
        >
          <TrustStep
            algorithms={overview.keyAlgorithms}
            kind={kind}
            setKind={setKind}
            found={found}
            pair={pair}
            setPair={setPair}
          />
          <PolicyStep overview={overview} found={found} />
        </Form>
      </div>
    </FieldProblems.Provider>
  );
}

interface TrustProps extends Pick<PartnerFormProps, 'pair' | 'setPair'> {
  algorithms: readonly string[];
  kind: Kind;
  setKind: (kind: Kind) => void;
  found: Findings | undefined;
}

function TrustStep({ algorithms, kind, setKind, found, pair, setPair }: TrustProps) {
  return (
    <Section title="1. Trust">
      <div class="card padded fields">
        <NameField />
        <IssuerField />
        <Field
          name="emailDomains"
          label="E-mail domains of its users"
          required
          hint={
            <PropertyHint
              name="emailDomains"
              text="separated by commas. A subdomain is another domain; * is any domain"
            />
          }
        />
        <Choice
          name="kind"
          label="Keys"
          options={KINDS}
          value="jwks"
          onChange={(value) => setKind(value as Kind)}
        />
        {kind === 'jwks' && (
          <Field
            name="url"
            label="Address of the key set"
            type="url"
            required
            hint="An https: address of the partner. It is fetched now to show its keys."
          />
        )}
        {kind === 'pair' && <PairFields pair={pair} setPair={setPair} />}
        {kind === 'key' && (
          <>
            <Field
              name="key"
              label="Public key"
              required
              rows={6}
              hint="PEM or JWK. A private key never belongs here."
            />
            <KeyId read={found?.read} />
            <Choice
              name="algorithms"
              label="Algorithm"
              options={[AS_THE_KEY, ...algorithms.map((value) => ({ value, text: value }))]}
            />
          </>
        )}
        {kind === 'jwks' && found?.keySet && <KeysOfSet set={found.keySet} />}
      </div>
    </Section>
  );
}

interface PolicyProps {
  overview: Overview;
  found: Findings | undefined;
}

function PolicyStep({ overview: { baseUrl, entryForm }, found }: PolicyProps) {
  const others = otherFields(entryForm);
  const isOther = (name: string) => others.some(({ fields }) => fields.some((field) => field.name === name));
  return (
    <Section title="2. What it may do">
      <div class="card padded fields">
        <Choice
          {...words('role', 'allowedRoles')}
          options={ROLES}
          value={PARTNER_QUESTIONS.role.recommended}
        />
        <Field {...words('projects', 'projects.mayAssign')} />
        <Field {...words('origins', 'origins')} required />
        <Field {...words('maxTokenTtl', 'maxTokenTtlSeconds')} />
        <Field {...words('maxUsers', 'maxUsers')} />
      </div>
      <Folded
        hasProblem={Object.keys(found?.atFields ?? {}).some(isOther)}
        summary="More settings, with the recommended values"
      >
        <div class="fields">
          <PolicyFields form={others} definition={recommended(baseUrl)} />
        </div>
      </Folded>
      <details>
        <summary>Try a token of the partner first</summary>
        <Field
          rows={4}
          name="test token"
          label="Test token"
          hint="It is checked as if the entry existed. It is not used up, stored or logged. The instance knows the keys of a key set only after you store the entry."
        />
        {found?.explanation && <Explanation explanation={found.explanation} />}
      </details>
      {found !== undefined && <Outcome found={found} />}
    </Section>
  );
}

function Outcome({ found: { policy, warnings, entry } }: { found: Findings }) {
  return (
    <>
      {policy.length > 0 && <Phrases items={policy} />}
      {warnings.length > 0 && <Phrases items={warnings} look="flash phrases" />}
      <details>
        <summary>The entry as JSON, for an instance that is configured by file</summary>
        <CodeBlock title="Entry" text={`${JSON.stringify(entry, null, 2)}\n`} file="entry.json" />
      </details>
    </>
  );
}

function words(question: keyof typeof PARTNER_QUESTIONS, name: string) {
  const { label, about } = PARTNER_QUESTIONS[question];
  return { name, label, hint: <PropertyHint name={name} text={about} /> };
}

function PairFields({ pair, setPair }: Pick<PartnerFormProps, 'pair' | 'setPair'>) {
  const { isBusy, problem, attempt } = useAttempt();
  if (pair !== undefined) return <Arrival>The pair is created. Its private key is below this form.</Arrival>;
  return (
    <div class="fields">
      <p class="soft">The browser creates the pair. The private key is shown once and never sent.</p>
      <div class="buttons">
        <BusyButton isBusy={isBusy} act={() => void attempt(async () => setPair(await newPair()))}>
          Create the pair
        </BusyButton>
      </div>
      {problem !== undefined && <Problem>This browser cannot create a key pair.</Problem>}
    </div>
  );
}

/** Shown until the operator leaves the page. */
export function PrivateKey({ pair }: { pair: OwnPair }) {
  return (
    <Section title="Private key of the partner">
      <p class="flash">
        Only this page has it. Give it to the partner's backend alone. It is gone when you leave this page.
      </p>
      <CodeBlock title="Private key" text={pair.privateKey} file="partner-key.pem" />
    </Section>
  );
}

function KeyId({ read }: { read: ReadKey | undefined }) {
  const kid = read?.problem === null ? read.kid : undefined;
  const otherwise = kid === undefined ? '' : ` Left empty: ${kid}.`;
  return <Field name="kid" label="Key id" hint={`The kid in the header of its tokens.${otherwise}`} />;
}

function KeysOfSet({ set: { keys, dropped, failure } }: { set: KeySet }) {
  if (failure !== null) return <Problem>The key set was not fetched: {failure}.</Problem>;
  return (
    <div role="status">
      <p>{keys.length === 0 ? 'The key set has no usable key.' : 'These keys of the set are used:'}</p>
      <ul>
        {keys.map(({ kid, algorithms }) => (
          <li key={kid}>
            <code>{kid}</code> ({algorithms.join(', ')})
          </li>
        ))}
        {dropped.map((reason) => (
          <li key={reason}>Not used: {reason}</li>
        ))}
      </ul>
    </div>
  );
}

interface Asked extends Pick<PartnerFormProps, 'overview' | 'pair'> {
  kind: Kind;
  isWhole: boolean;
}

async function findingsOf(data: FormData, { overview, kind, pair, isWhole }: Asked): Promise<Findings> {
  const read = await keyRead(textIn(data, 'key'), kind, pair);
  const entry = entryIn(data, keysIn(data, kind, read), overview.entryForm);
  const token = textIn(data, 'test token');
  const checked = await call('POST /entries/check', { body: { entry, ...(token !== '' && { token }) } });
  const sorted = sortProblems(checked.problems, fieldNames(overview.entryForm));
  // Without a readable key, its id and algorithm are missing too.
  const atKey = read?.problem ? { key: read.problem, kid: undefined, algorithms: undefined } : {};
  const found = Object.entries({ ...sorted.atFields, ...atKey }).flatMap(([name, rule]) => {
    const isAsked = rule !== undefined && (isWhole || textIn(data, name) !== '');
    return isAsked ? [[name, rule === NOT_GIVEN ? 'Fill in this field.' : rule] as const] : [];
  });
  const atFields = Object.fromEntries(found);
  const isFetched = kind === 'jwks' && textIn(data, 'url') !== '' && atFields['url'] === undefined;
  const keySet = isFetched
    ? await call('POST /partners/key-set', { body: { url: textIn(data, 'url') } })
    : undefined;
  const { policy, explanation, warnings } = checked;
  const others = isWhole ? sorted.others : [];
  return { entry, atFields, others, policy, warnings, explanation, read, keySet };
}

async function keyRead(text: string, kind: Kind, pair: OwnPair | undefined): Promise<ReadKey | undefined> {
  if (kind === 'jwks') return undefined;
  if (kind === 'pair')
    return pair && { problem: null, kid: pair.kid, algorithms: [pair.algorithm], key: pair.publicKey };
  if (isPrivateKey(text)) return { problem: BURNT };
  const read = await call('POST /partners/key', { body: { text } });
  return read.problem === null ? read : { problem: `It ${read.problem}.` };
}

/** The signing key, as the partner's code names it. */
function signerOf(entry: Entry, read: ReadKey | undefined, keySet: KeySet | undefined) {
  if (read?.problem === null) {
    const kid = 'kid' in entry ? String(entry.kid) : read.kid;
    return { kid, algorithm: read.algorithms[0] ?? 'ES256' };
  }
  const [key] = keySet?.keys ?? [];
  return { kid: key?.kid ?? 'KEY_ID', algorithm: key?.algorithms[0] ?? 'ES256' };
}
