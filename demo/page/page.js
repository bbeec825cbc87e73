// Fetches a token for the chosen customer, signs the frame in with the instance's script, and shows what was sent and received.

const picker = document.querySelector('#picker');
const buttons = [...picker.querySelectorAll('button')];
const events = document.querySelector('#events');

/** The frame, after the instance's script has loaded. */
let workspace;
/** The last login, to show that a used token is refused. */
let lastLogin;
/** The customers' names by the ids in their tokens. */
const names = new Map();
/** The user in the frame, and whether a job is running. */
let shown;
let isBusy = false;
let isRenewalDue = false;

const ENDINGS = {
  'signed-out': 'has signed out.',
  expired: 'was signed in; the time of the session is over.',
  revoked: 'was signed out elsewhere.',
  'signed-out-by-provider': 'was signed out by the product.',
};

async function read(answer) {
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.message);
  return content;
}

async function post(path, body) {
  const headers = { 'content-type': 'application/json' };
  return read(await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }));
}

function show(id, text) {
  document.querySelector(`#${id}`).textContent = text;
}

function showJson(id, value) {
  show(id, JSON.stringify(value, null, 2));
}

function showEvent(name, detail) {
  const line = document.createElement('li');
  line.textContent = `${new Date().toLocaleTimeString('en-GB')} ${name} ${JSON.stringify(detail)}`;
  events.prepend(line);
}

function choiceOf({ sub, name, role }, index) {
  const label = document.createElement('label');
  const radio = document.createElement('input');
  Object.assign(radio, { type: 'radio', name: 'customer', value: sub, checked: index === 0 });
  const who = document.createElement('strong');
  who.textContent = name;
  const rights = document.createElement('span');
  rights.textContent = role;
  label.append(radio, who, rights);
  return label;
}

/** The instance's script is the only code that the product loads from it. */
async function loadScript(instanceUrl) {
  const script = document.createElement('script');
  script.src = new URL('/embed.js', instanceUrl);
  const loaded = new Promise((resolve, reject) =>
    Object.assign(script, { onload: resolve, onerror: reject }),
  );
  document.head.append(script);
  await loaded;
}

function makeWorkspace() {
  const container = document.querySelector('#workspace');
  workspace = new window.EmbeddedInstance({
    container,
    title: 'Automations, served by the instance',
    accent: '#1f6b4c',
  });
  const told = ['session-ready', 'session-expiring', 'session-ended', 'login-failed'];
  for (const name of told) workspace.on(name, (detail) => showEvent(name, detail));
  workspace.on('session-ready', () => {
    shown = lastLogin.customer;
    show('state', `${nameShown()} is signed in.`);
  });
  workspace.on('session-ended', ({ reason }) => show('state', `${nameShown()} ${ENDINGS[reason]}`));
  workspace.on('login-failed', ({ during, error }) => {
    const what =
      during === 'login' ? 'The instance refused the login' : 'The instance did not renew the session';
    show('state', `${what}: ${error}.`);
  });
  workspace.on('session-expiring', () => {
    show('state', `The session of ${nameShown()} is about to end: the page renews it.`);
    run(renew);
  });
}

function nameShown() {
  return names.get(shown) ?? 'The customer';
}

async function newToken(customer) {
  const { token, header, claims } = await post('/token', { customer });
  showJson('sent', { header, claims });
  return token;
}

async function openAutomations() {
  const customer = new FormData(picker).get('customer');
  show('state', `${names.get(customer)} is being signed in …`);
  lastLogin = { customer, token: await newToken(customer) };
  workspace.login(lastLogin.token);
  showJson('returned', await post('/twin', { customer }));
}

async function renew() {
  workspace.renew(await newToken(lastLogin.customer));
}

async function sendAgain() {
  show('state', 'The token that was used already is sent again …');
  workspace.login(lastLogin.token);
  showJson('returned', await post('/twin', { customer: lastLogin.customer, again: true }));
}

async function leave() {
  workspace.logout();
}

/** Runs one job at a time, and shows its error if it fails. Waiting buttons keep the focus. */
async function run(job) {
  if (isBusy) {
    // The script requests a renewal only once.
    isRenewalDue ||= job === renew;
    return;
  }
  isBusy = true;
  for (const button of buttons) button.ariaDisabled = 'true';
  try {
    await job();
  } catch (error) {
    show('state', `That did not work: ${error.message ?? 'the instance’s script could not be loaded'}.`);
  } finally {
    isBusy = false;
    for (const button of buttons) {
      button.ariaDisabled = String(button.id !== 'open' && lastLogin === undefined);
    }
  }
  if (isRenewalDue) {
    isRenewalDue = false;
    await run(renew);
  }
}

picker.addEventListener('submit', (event) => {
  event.preventDefault();
  run(openAutomations);
});
for (const [id, job] of Object.entries({ renew, again: sendAgain, leave })) {
  document.querySelector(`#${id}`).addEventListener('click', () => lastLogin && run(job));
}

run(async () => {
  const { instanceUrl, customers } = await read(await fetch('/desk'));
  for (const { sub, name } of customers) names.set(sub, name);
  document.querySelector('#customers').append(...customers.map(choiceOf));
  await loadScript(instanceUrl);
  makeWorkspace();
  await openAutomations();
});
