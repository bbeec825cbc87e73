// Forms about a stored entry: its policy, another key under the same policy, and the whole entry as JSON.
import type { ComponentChildren } from 'preact';
import type { AnswerOf } from './api.js';
import { call } from './api.js';
import { NameField, PolicyFields } from './entry-fields.js';
import type { EntryForm } from './entry-values.js';
import { policyIn } from './entry-values.js';
import { Field, Form } from './form.js';
import { textIn } from './form-data.js';
import type { PageProps } from './navigation.js';
import { address, goTo } from './navigation.js';
import { LinkButton, Name, PageHead } from './parts.js';
import { Loaded, problemOf } from './states.js';

function placeOf({ params: { entry = '' } }: Pick<PageProps, 'params'>) {
  return { name: entry.replace(/^stored:/, ''), back: { href: address('#/entries/?', entry), text: entry } };
}

export function ChangeEntryView(props: PageProps) {
  const { name, back } = placeOf(props);
  const load = async (signal: AbortSignal) => {
    const [entry, { entryForm }] = await Promise.all([
      call('GET /entries/:name', { params: { name }, signal }),
      call('GET /overview', { signal }),
    ]);
    return { entry, entryForm };
  };
  return (
    <>
      <PageHead
        title={
          <>
            Change <Name>{back.text}</Name>
          </>
        }
        back={back}
        lead="What its tokens may do. To change issuer or keys, add another entry and remove this one."
      />
      <Loaded load={load}>{(data) => <ChangeForm name={name} back={back} {...data} />}</Loaded>
    </>
  );
}

interface ChangeProps {
  name: string;
  back: { href: string };
  entry: AnswerOf<'GET /entries/:name'>;
  entryForm: EntryForm;
}

function ChangeForm({ name, back, entry, entryForm }: ChangeProps) {
  const definition: Readonly<Record<string, unknown>> = entry.definition;
  const fields = entryForm.flatMap((group) => group.fields);
  const send = (data: FormData) => {
    const shown = fields.map((field) => field.name);
    const others = Object.entries(definition).filter(([property]) => !shown.includes(property));
    const body = { ...Object.fromEntries(others), ...policyIn(data, fields) };
    return call('PUT /entries/:name', { params: { name }, body, ifMatch: `"${entry.revision}"` });
  };
  return (
    <Form
      button="Save changes"
      asksToLeave
      beside={<Cancel {...back} />}
      send={send}
      done={() => goTo(back.href)}
    >
      <PolicyFields form={entryForm} definition={definition} />
    </Form>
  );
}

function Cancel({ href }: { href: string }) {
  return <LinkButton href={href}>Cancel</LinkButton>;
}

interface AddingProps {
  button: string;
  back: { href: string };
  send: (data: FormData) => Promise<AnswerOf<'POST /entries'>>;
  children: ComponentChildren;
}

/** A form that adds an entry and opens it. */
function Adding({ back, ...form }: AddingProps) {
  const done = ({ name }: AnswerOf<'POST /entries'>) => goTo(address('#/entries/?', `stored:${name}`));
  return <Form asksToLeave beside={<Cancel {...back} />} done={done} {...form} />;
}

/** The entry's present key stays valid meanwhile. */
export function AnotherKeyView(props: PageProps) {
  const { name: like, back } = placeOf(props);
  const send = (data: FormData) => {
    const entry = { name: textIn(data, 'name'), kid: textIn(data, 'kid'), key: `${textIn(data, 'key')}\n` };
    return call('POST /entries', { body: { like, entry } });
  };
  return (
    <>
      <PageHead
        title={
          <>
            Another key like <Name>{back.text}</Name>
          </>
        }
        back={back}
        lead="A new entry with the same issuer, algorithms and policy. Both keys are accepted until you remove the former entry: do that once the partner signs with the new key."
      />
      <Adding button="Add key" back={back} send={send}>
        <NameField />
        <Field name="kid" label="Key id" required hint="The kid in the header of its tokens." />
        <Field
          name="key"
          label="Public key"
          required
          rows={6}
          placeholder="-----BEGIN PUBLIC KEY-----"
          hint="PEM. A private key never belongs here."
        />
      </Adding>
    </>
  );
}

/** For an existing JSON entry, and for properties without a field. */
export function JsonEntryView() {
  const back = { href: '#/entries', text: 'Trusted entries' };
  const send = async (data: FormData) =>
    call('POST /entries', { body: { entry: jsonIn(textIn(data, 'json')) } });
  return (
    <>
      <PageHead
        title="Add an entry as JSON"
        back={back}
        lead="All instances accept its tokens as soon as it is added."
      />
      <Adding button="Add entry" back={back} send={send}>
        <Field
          name="json"
          label="Entry as JSON"
          required
          rows={16}
          placeholder={'{\n  "type": "static",\n  "name": "acme",\n  …\n}'}
          hint="All properties as in SVC_TOKEN_EXCHANGE_TRUSTED_KEYS, with a name."
        />
      </Adding>
    </>
  );
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw problemOf(`This is not valid JSON: ${(error as Error).message}.`);
  }
}
