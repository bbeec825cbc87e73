// Explains how the instance would handle a token, without using it up. The token is only in the form and the body of one request.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { News } from '../shared/states.js';
import type { Operations } from './api.js';
import { call } from './api.js';
import type { Explained } from './explanation.js';
import { Explanation } from './explanation.js';
import { Choice, Field, Form } from './form.js';
import { textsIn } from './form-data.js';
import { PageHead } from './parts.js';
import { flowInWords } from './words.js';

type Flow = Operations['POST /explain']['body']['flow'];

/** Most frequent first. */
const FLOWS: readonly Flow[] = ['embed', 'exchange', 'id-jag', 'jwt-bearer'];
const FLOW_CHOICES = FLOWS.map((value) => ({ value, text: flowInWords(value) }));

export function ExplainView() {
  const [flow, setFlow] = useState<string>('embed');
  const [explanation, setExplanation] = useState<Explained | null>(null);
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.querySelector('h2')?.focus(), [explanation]);
  const send = (data: FormData) => {
    const given = Object.entries(textsIn(data)).filter(([, value]) => value !== '');
    const body = Object.fromEntries(given) as unknown as Operations['POST /explain']['body'];
    return call('POST /explain', { body });
  };
  const reset = () => {
    setExplanation(null);
    setFlow('embed');
  };
  return (
    <>
      <PageHead title="Explain a token" lead="What the instance would do with a token now, check by check." />
      <Form
        button="Explain"
        class="card padded"
        beside={<button type="reset">Clear</button>}
        send={send}
        done={setExplanation}
        onReset={reset}
      >
        <Choice name="flow" label="Sign-in method" options={FLOW_CHOICES} value="embed" onChange={setFlow} />
        <Field
          rows={4}
          name="token"
          label="Token"
          required
          hint="The token is only read: it is not used up, stored or logged. It stays valid, so take care where you paste it."
        />
        {flow === 'embed' ? <LoginFields /> : <AccessFields hasActor={flow === 'exchange'} />}
      </Form>
      <div ref={place}>{explanation !== null && <Explanation explanation={explanation} />}</div>
      <News text={explanation === null ? '' : NEWS[explanation.outcome]} />
    </>
  );
}

const NEWS = { accepted: 'The token would be accepted.', refused: 'The token would be refused.' } as const;

function LoginFields() {
  return (
    <Field
      name="origin"
      label="Origin of the product page"
      type="url"
      placeholder="https://product.example"
      hint="Leave it empty if the form is not sent by a browser."
    />
  );
}

function AccessFields({ hasActor }: { hasActor: boolean }) {
  return (
    <div class="fields">
      {hasActor && (
        <Field
          rows={4}
          name="actorToken"
          label="Actor token"
          hint="If another user acts on behalf of the subject."
        />
      )}
      <Field
        rows={4}
        name="proof"
        label="DPoP proof"
        hint="If the client sends a proof of possession with the token."
      />
      <Field name="scope" label="Scope" hint="The requested scopes, separated by spaces." />
      <Field name="resource" label="Resource" hint="The URIs of other services, separated by spaces." />
    </div>
  );
}
