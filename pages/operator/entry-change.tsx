// Forms about a stored entry: its policy, and another key under the same policy.
import { RefusedError } from '../shared/api.js';
import type { AnswerOf } from './api.js';
import { call } from './api.js';
import { KeyFields, NameField, PolicyFields } from './entry-fields.js';
import type { EntryForm } from './entry-values.js';
import { labelsOf, policyIn } from './entry-values.js';
import { Form } from './form.js';
import { textIn } from './form-data.js';
import { address, goTo } from './navigation.js';
import type { PageProps } from './page-props.js';
import { Name, PageHead } from './parts.js';
import { Loaded, problemOf } from './states.js';
import { byLabels } from './words.js';

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
    return call('PUT /entries/:name', { params: { name }, body, ifMatch: `"${entry.revision}"` }).catch(
      (error: unknown) => {
        if (!(error instanceof RefusedError) || error.description === undefined || error.status >= 500)
          throw error;
        throw problemOf(byLabels(error.description, labelsOf(entryForm)));
      },
    );
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
  return (
    <a class="button" href={href}>
      Cancel
    </a>
  );
}

/** The key of the entry still counts meanwhile. */
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
        lead="A new entry with the same issuer, algorithms and policy. Both keys count until you remove the former entry: do that once the partner signs with the new key."
      />
      <Form
        button="Add key"
        asksToLeave
        beside={<Cancel {...back} />}
        send={send}
        done={({ name }) => goTo(address('#/entries/?', `stored:${name}`))}
      >
        <NameField />
        <KeyFields />
      </Form>
    </>
  );
}
