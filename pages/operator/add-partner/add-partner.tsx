// Adds a partner in four steps: trust, permissions, code, and the wait for its first token.
import { useState } from 'preact/hooks';
import type { PartnerFacts } from '../../../src/administration/partners/snippets.js';
import type { AnswerOf } from '../api.js';
import { call } from '../api.js';
import { Arrival, EntryLink, Facts, Mark, Name, PageHead, Phrases, Section } from '../parts.js';
import { Loaded } from '../states.js';
import { CodeStep } from './code.js';
import { CodeBlock } from './code-block.js';
import { GOALS } from './first-token.js';
import type { OwnPair } from './own-pair.js';
import type { Chosen } from './partner-form.js';
import { PartnerForm, PrivateKey } from './partner-form.js';
import { WaitStep } from './wait.js';

type Overview = AnswerOf<'GET /overview'>;

export function AddPartnerView() {
  return (
    <Loaded load={(signal) => call('GET /overview', { signal })}>
      {(overview) => <AddPartner overview={overview} />}
    </Loaded>
  );
}

function AddPartner({ overview }: { overview: Overview }) {
  const [pair, setPair] = useState<OwnPair | undefined>(undefined);
  const [chosen, setChosen] = useState<Chosen | undefined>(undefined);
  const { embedLogin, exchange } = overview.tokenExchange;
  const isOn = { embed: embedLogin, exchange };
  const goals = GOALS.filter((goal) => isOn[goal]);
  return (
    <>
      <PageHead
        title="Add a partner"
        back={{ href: '#/entries', text: 'Trusted entries' }}
        lead="Trust a partner, choose what its tokens may do, copy its code, and see its first login. Everything else has a recommended value."
      />
      {chosen === undefined ? (
        <PartnerForm overview={overview} pair={pair} setPair={setPair} done={setChosen} />
      ) : (
        <Added chosen={chosen} overview={overview} />
      )}
      {pair !== undefined && <PrivateKey pair={pair} />}
      {chosen !== undefined && (
        <>
          <CodeStep facts={factsOf(chosen, overview)} />
          <WaitStep issuer={chosen.entry.issuer} goals={goals} />
          <Demo chosen={chosen} baseUrl={overview.baseUrl} />
        </>
      )}
    </>
  );
}

function factsOf({ entry, kid, algorithm }: Chosen, { baseUrl }: Overview): PartnerFacts {
  const audience = audienceOf(entry, baseUrl);
  return { issuer: entry.issuer, audience, baseUrl, kid, algorithm, keyFile: 'partner-key.pem' };
}

/** Without the strict policy, an entry may expect no audience. */
function audienceOf(entry: object, baseUrl: string): string {
  return 'expectedAudience' in entry ? String(entry.expectedAudience) : baseUrl;
}

/** The added entry, and what the partner needs to know. */
function Added({ chosen, overview: { baseUrl, tokenExchange } }: { chosen: Chosen; overview: Overview }) {
  const { entry, kid, isStored, warnings } = chosen;
  const { name, issuer, origins = [] } = entry;
  const text = `${JSON.stringify([entry], null, 2)}\n`;
  const docs = `${baseUrl}/api/v1/docs`;
  return (
    <Section
      title="1, 2. Trust, and what it may do"
      beside={isStored ? <Mark kind="good">Stored</Mark> : <Mark kind="warn">Not stored</Mark>}
    >
      <Arrival>
        {isStored
          ? 'All instances accept its tokens within 10 seconds.'
          : 'Put the entry into the file of trusted keys, and restart the service.'}
      </Arrival>
      {!isStored && <CodeBlock title="File of trusted keys" text={text} file="trusted-keys.json" />}
      <Facts
        isCard
        pairs={[
          ['Entry', isStored ? <EntryLink label={`stored:${name}`} /> : name],
          ['Issuer (iss)', <Name>{issuer}</Name>],
          ['Audience (aud)', <Name>{audienceOf(entry, baseUrl)}</Name>],
          ['Key id (kid)', <Name>{kid}</Name>],
          ['Origins', origins.length > 0 && <Name>{origins.join(', ')}</Name>],
          ['Token exchange', tokenExchange.exchange && <Name>{`${baseUrl}/rest/auth/oauth/token`}</Name>],
          ['Embedded login', tokenExchange.embedLogin && <Name>{`${baseUrl}/rest/auth/embed`}</Name>],
          ['API', <a href={docs}>{docs}</a>],
        ]}
      />
      {warnings.length > 0 && <Phrases items={warnings} look="flash phrases" />}
    </Section>
  );
}

/** The demo page of `init`. Only a browser on the same machine reaches it. */
function Demo({ chosen: { entry, kid }, baseUrl }: { chosen: Chosen; baseUrl: string }) {
  const origin = entry.origins?.find((one) => one.startsWith('http://localhost:'));
  if (origin === undefined) return null;
  const settings = [
    `INSTANCE_URL=${baseUrl} PARTNER_ISSUER=${entry.issuer} PARTNER_ORIGIN=${origin}`,
    `KEY_FILE=partner-key.pem KEY_ID=${kid} PARTNER_EMAIL_DOMAIN=${entry.emailDomains?.[0] ?? ''}`,
  ];
  const program = 'node node_modules/embedded-token-exchange/examples/quickstart/partner.mjs';
  return (
    <Section title="See a frame first">
      <p>
        This program serves a page with the frame at <a href={origin}>{origin}</a>:
      </p>
      <CodeBlock title="Demo page" text={[...settings, program].join(' \\\n  ')} />
    </Section>
  );
}
