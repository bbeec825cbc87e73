// Adds a partner on one page in four steps: trust, what it may do, code, and the wait for its first token.
import { useState } from 'preact/hooks';
import type { PartnerFacts } from '../../../src/administration/partners/partner-facts.js';
import type { AnswerOf } from '../api.js';
import { call } from '../api.js';
import { address } from '../navigation.js';
import { Facts, Mark, Name, PageHead, Section } from '../parts.js';
import { Loaded } from '../states.js';
import { CodeBlock } from './code-block.js';
import { CodeStep } from './code.js';
import type { OwnPair } from './own-pair.js';
import type { Chosen } from './partner-form.js';
import { PartnerForm, PrivateKey } from './partner-form.js';
import type { Goal } from './wait.js';
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
  const goals: Goal[] = [
    ...(embedLogin ? (['embed'] as const) : []),
    ...(exchange ? (['exchange'] as const) : []),
  ];
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
        <Added chosen={chosen} />
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
  const { issuer, expectedAudience: audience } = entry;
  return { issuer, audience, baseUrl, kid, algorithm, keyFile: 'partner-key.pem' };
}

function Added({ chosen: { entry, kid, isStored } }: { chosen: Chosen }) {
  const text = `${JSON.stringify(isStored ? entry : [entry], null, 2)}\n`;
  return (
    <Section
      title="Trust and what it may do"
      beside={isStored ? <Mark kind="good">Stored</Mark> : <Mark kind="warn">Not stored</Mark>}
    >
      <div class="card padded">
        <Facts
          pairs={[
            [
              'Entry',
              isStored ? (
                <a href={address('#/entries/?', `stored:${entry.name}`)}>{entry.name}</a>
              ) : (
                entry.name
              ),
            ],
            ['Issuer', <Name>{entry.issuer}</Name>],
            ['Key id', <Name>{kid}</Name>],
            ['Origins', <Name>{entry.origins.join(', ')}</Name>],
          ]}
        />
      </div>
      {isStored ? (
        <p class="soft">All instances accept its tokens within 10 seconds.</p>
      ) : (
        <>
          <p>Put the entry into the file of trusted keys, and restart the service.</p>
          <CodeBlock title="File of trusted keys" text={text} file="trusted-keys.json" />
        </>
      )}
    </Section>
  );
}

/** The page of `init`, which only a browser on the same machine reaches. */
function Demo({ chosen: { entry, kid }, baseUrl }: { chosen: Chosen; baseUrl: string }) {
  const origin = entry.origins.find((one) => one.startsWith('http://localhost:'));
  if (origin === undefined) return null;
  const settings = [
    `INSTANCE_URL=${baseUrl} PARTNER_ISSUER=${entry.issuer} PARTNER_ORIGIN=${origin}`,
    `KEY_FILE=partner-key.pem KEY_ID=${kid} PARTNER_EMAIL_DOMAIN=${entry.emailDomains[0] ?? ''}`,
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
