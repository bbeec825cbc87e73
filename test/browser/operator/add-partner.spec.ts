// "Add a partner": from an instance without any entry to the first login and exchange of a backend made of the code that the page shows.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../demo/free-port.js';
import { Partner } from '../../../demo/partner.js';
import type { TestBrowser } from '../../support/browser.js';
import { describeInBrowser, openBrowser } from '../../support/browser.js';
import { describeOnAnyDatabase } from '../../support/databases.js';
import { JwksServer, status } from '../../support/jwks-server.js';
import { OperatorPage, OWNER } from '../../support/operator-browsing.js';
import { createOperator, OPERATOR_ENVIRONMENT } from '../../support/operators.js';
import { isMainScope } from '../../support/series.js';
import { REPOSITORY } from '../../support/source-files.js';
import { TestService } from '../../support/test-service.js';
import { findingsIn } from '../support/accessibility.js';

const PATIENCE_MS = 180_000;
/** How a partner's key can be given. */
const WAYS = isMainScope
  ? (['key set', 'new pair'] as const)
  : (['key set', 'PEM', 'JWK', 'new pair'] as const);
const WIDTHS = isMainScope ? [320] : [1280, 768, 320];

/** The partner's product: its routes call the functions of the code, for the user of a session that it always has. */
const SERVER = `import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { accessToken, sendFrameToken } from './automation.mjs';

const user = { id: 'customer-1', email: 'customer-1@partner.example' };
const page = readFileSync('page.html', 'utf8');
createServer(async (request, response) => {
  if (request.url === '/automation-token') return sendFrameToken(user, response);
  if (request.url === '/exchange') return response.end(JSON.stringify({ length: (await accessToken(user)).length }));
  response.setHeader('content-type', 'text/html').end('<!doctype html><title>A product</title>' + page);
}).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('listening'));
`;

const nameOf = (way: (typeof WAYS)[number]) => way.toLowerCase().replace(' ', '-');

describeInBrowser('"Add a partner"', () => {
  describeOnAnyDatabase('on an instance without any entry', (database) => {
    const keySet = JwksServer.forBlock();
    const backends: ChildProcess[] = [];
    let baseUrl: string;
    let service: TestService;
    let browser: TestBrowser;
    let one: OperatorPage;

    beforeAll(async () => {
      const port = await freePort();
      baseUrl = `http://localhost:${port}`;
      service = await TestService.start(database, {
        trustedKeys: [],
        environment: {
          ...OPERATOR_ENVIRONMENT,
          SVC_PORT: String(port),
          SVC_BASE_URL: baseUrl,
          SVC_TOKEN_EXCHANGE_STRICT: 'true',
          SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
        },
      });
      await createOperator(service, OWNER, 'global:owner');
      browser = await openBrowser();
      one = new OperatorPage(await browser.context.newPage());
      await one.page.setViewportSize({ width: 1280, height: 900 });
      await one.page.goto(`${baseUrl}/admin#/entries`);
      await one.signIn();
    }, PATIENCE_MS);
    afterAll(async () => {
      for (const backend of backends) {
        backend.kill();
        await once(backend, 'close');
      }
      await browser?.close();
      await service?.stop();
    });

    const open = async () => {
      await one.page.goto('about:blank');
      await one.page.goto(`${baseUrl}/admin#/entries`);
      await one.link('Add a partner').first().click();
      await one.heading('Add a partner');
      await one.field('Name').waitFor();
    };
    const fill = async (fields: Record<string, string>) => {
      for (const [label, text] of Object.entries(fields)) await one.field(label).fill(text);
      await one.page.keyboard.press('Tab');
    };
    const shown = (title: string) =>
      one.page.getByRole('region', { name: title, exact: true }).textContent() as Promise<string>;

    /** Starts the partner's product from what the page shows. */
    async function startBackend(port: number, privateKey: string): Promise<void> {
      const folder = mkdtempSync(join(tmpdir(), 'add-partner-'));
      mkdirSync(join(folder, 'node_modules'));
      symlinkSync(join(REPOSITORY, 'node_modules', 'jose'), join(folder, 'node_modules', 'jose'));
      writeFileSync(join(folder, 'automation.mjs'), await shown('Backend, Node.js'));
      writeFileSync(join(folder, 'page.html'), await shown('Page, HTML'));
      writeFileSync(join(folder, 'partner-key.pem'), privateKey);
      writeFileSync(join(folder, 'server.mjs'), SERVER);
      const env = { PATH: process.env['PATH'], PORT: String(port) };
      const child = spawn(process.execPath, ['server.mjs'], {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      backends.push(child);
      await once(child.stdout, 'data');
    }

    it.each(WAYS)(
      'leads with a %s to the first login and the first exchange, and shows each request with its reason',
      async (way) => {
        const port = await freePort();
        const name = nameOf(way);
        const issuer = `https://${name}.example`;
        const partner = Partner.create({ issuer, audience: baseUrl });
        await open();
        const origin = `http://localhost:${port}`;
        await fill({
          Name: name,
          Issuer: issuer,
          'E-mail domains of its users': 'partner.example',
          Origins: origin,
        });
        let privateKey = partner.privateKeyPem();
        if (way === 'key set') {
          keySet.publish(partner.jwks());
          await fill({ 'Address of the key set': keySet.url });
          await one.text('These keys of the set are used:');
        } else if (way !== 'new pair') {
          const key = way === 'PEM' ? partner.publicKeyPem() : JSON.stringify(partner.jwks().keys[0]);
          await one.field('Keys').selectOption('key');
          await fill({ 'Public key': key, 'Key id': partner.kid });
        } else {
          await one.field('Keys').selectOption('pair');
          const sent: string[] = [];
          one.page.on('request', (request) => sent.push(request.postData() ?? ''));
          await one.button('Create the pair').click();
          privateKey = await shown('Private key');
          expect(sent.join()).not.toContain('PRIVATE KEY');
        }
        await one.button('Store the entry').click();
        await one.text('All instances accept its tokens within 10 seconds.');
        await startBackend(port, privateKey);
        const looked = one.page.waitForResponse((answer) => answer.url().endsWith('/partners/requests'));
        await one.button('I am ready').click();
        await looked;
        const wrong = partner.sign(partner.claims({ aud: 'https://another.example' }));
        await service.exchange({ subject_token: wrong });
        await one.row('Refused').first().waitFor();
        const product = await browser.context.newPage();
        await product.goto(origin);
        await product.frameLocator('iframe:visible').getByRole('heading').first().waitFor();
        await product.goto(`${origin}/exchange`);
        await one.text('The partner is set up: its tokens are accepted.');
        expect(await one.page.getByRole('list', { name: 'What has to succeed' }).textContent()).toBe(
          'An embedded login SucceededA token exchange Succeeded',
        );
        await product.close();
      },
      PATIENCE_MS,
    );

    it.each([
      ['Seats', '0', 'Must be a whole number from 1'],
      ['E-mail domains of its users', 'a@b', 'must be a list of at least one domain'],
      ['Address of the key set', 'ftp://partner.example/jwks.json', 'https:'],
    ])('reports errors during input: %s %s', async (label, text, problem) => {
      await open();
      await fill({ [label]: text });
      await one.alert(new RegExp(problem, 'i'));
      expect(await one.page.getByRole('alert').count()).toBe(1);
    });

    it.each([
      [
        'a private key',
        () => Partner.create({ issuer: 'https://partner.example' }).privateKeyPem(),
        'This is a private key. It was not sent',
      ],
      ['a private JWK', () => '{"kty":"EC","d":"secret"}', 'This is a private key. It was not sent'],
      [
        'half a PEM',
        () => Partner.create({ issuer: 'https://partner.example' }).publicKeyPem().slice(0, 60),
        'It is a damaged public key',
      ],
    ])('reports an error in %s, and sends no private key', async (_, text, problem) => {
      await open();
      const sent: string[] = [];
      one.page.on('request', (request) => sent.push(request.postData() ?? ''));
      await one.field('Keys').selectOption('key');
      await fill({ 'Public key': text() });
      await one.alert(problem);
      expect(sent.join()).not.toMatch(/PRIVATE KEY|secret/);
    });

    it('reports an unreachable key set as `keys check` does', async () => {
      keySet.answerWith(status(404));
      await open();
      await fill({ 'Address of the key set': keySet.url });
      await one.alert('The key set was not fetched: status 404.');
    });

    it('reports a duplicate name and empty fields when the entry is saved', async () => {
      await open();
      await one.button('Store the entry').click();
      await one.alert('Some fields have problems.');
      await fill({ Name: 'key-set' });
      await one.alert('Another stored entry has it');
    });

    it('shows the entry as JSON if an instance is configured by file, and stores nothing', async () => {
      await open();
      await fill({
        ...{ Name: 'by-file', Issuer: 'https://by-file.example', Origins: 'https://product.example' },
        ...{ 'E-mail domains of its users': 'by-file.example' },
        'Address of the key set': 'https://by-file.example/jwks.json',
      });
      await one.button('Go on without storing').click();
      const [entry] = JSON.parse(await shown('File of trusted keys')) as object[];
      expect(entry).toMatchObject({ name: 'by-file', expectedAudience: baseUrl, perMinute: 600 });
      expect(await shown('File for a coding agent')).toContain('https://by-file.example');
      const stored = await service.rows('SELECT name FROM token_exchange_stored_entry ORDER BY name');
      expect(stored.map(({ name }) => name)).toEqual(WAYS.map(nameOf).sort());
    });

    /** The control that has the focus: its name, whether the focus is seen, and whether it follows the one before. */
    const focused = () =>
      one.page.evaluate<{ name: string; isSeen: boolean; follows: boolean }>(`(() => {
        const at = document.activeElement;
        const before = window.before;
        window.before = at;
        const { outlineStyle, outlineWidth } = getComputedStyle(at);
        const name = at.labels?.[0]?.textContent ?? at.getAttribute('aria-label') ?? at.textContent;
        const follows = !before?.isConnected || (before.compareDocumentPosition(at) & 4) !== 0;
        return { name, isSeen: outlineStyle !== 'none' && parseFloat(outlineWidth) > 0, follows };
      })()`);

    it('is usable by keyboard only, in page order and with visible focus', async () => {
      await open();
      const { keyboard } = one.page;
      const passed: string[] = [];
      /** Presses Tab until a control has the focus. */
      const reach = async (name: string | RegExp) => {
        for (let presses = 0; presses < 60; presses += 1) {
          await keyboard.press('Tab');
          const found = await focused();
          expect([found.name, found.isSeen, found.follows]).toEqual([found.name, true, true]);
          passed.push(found.name);
          if (found.name.match(name)?.[0] === found.name) return;
        }
        throw new Error(`${String(name)} was not reached: ${passed.join(', ')}`);
      };
      const type = async (name: string, text: string) => {
        await reach(name);
        await keyboard.insertText(text);
      };
      await one.field('Name').focus();
      await keyboard.insertText('keyboard');
      await type('Issuer', 'https://keyboard.example');
      await type('E-mail domains of its users', 'keyboard.example');
      await reach('Keys');
      await keyboard.press('A');
      await one.button('Create the pair').waitFor();
      await reach('Create the pair');
      await keyboard.press('Enter');
      await one.page.locator(':focus', { hasText: 'The pair is created.' }).waitFor();
      await reach('Highest role');
      await type('Origins', 'http://localhost:3000');
      await reach(/^More settings.*/);
      await keyboard.press('Enter');
      await reach('Expected audience');
      await one.page.locator('summary:focus, details[open] :focus').waitFor();
      await reach('Store the entry');
      await keyboard.press('Enter');
      await one.page.locator(':focus', { hasText: 'All instances accept its tokens' }).waitFor();
      await reach('Backend');
      await keyboard.press('P');
      await reach('Backend, Python');
      await reach('I am ready');
      await keyboard.press('Enter');
      await one.page.locator(':focus', { hasText: 'The page looks for requests of this issuer.' }).waitFor();
      // The focus leaves the page in both directions.
      await keyboard.press('Shift+Tab');
      expect((await focused()).name).toContain('Save as embed.md');
      const stored = await service.rows(`SELECT 1 FROM token_exchange_stored_entry WHERE name = 'keyboard'`);
      expect(stored).toHaveLength(1);
    });

    it.each(WIDTHS)(
      'has no problem that axe finds, in both themes, %d pixels wide',
      async (width) => {
        for (const colorScheme of ['light', 'dark'] as const) {
          await one.page.emulateMedia({ colorScheme });
          await one.page.setViewportSize({ width, height: 800 });
          await open();
          await one.field('Keys').selectOption('pair');
          await one.button('Create the pair').click();
          await fill({ Origins: 'product.example' });
          await one.alert('exact origin');
          expect(await findingsIn(one.page)).toEqual([]);
          await fill({
            ...{ Name: `seen-${width}-${colorScheme}`, Issuer: `https://${width}.${colorScheme}.example` },
            ...{ Origins: 'http://localhost:3000', 'E-mail domains of its users': 'seen.example' },
          });
          await one.button('Go on without storing').click();
          await one.button('I am ready').click();
          expect(await findingsIn(one.page)).toEqual([]);
        }
      },
      PATIENCE_MS,
    );
  });
});
