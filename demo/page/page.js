// Fetches a token for the picked customer, signs the frame in by the instance's script, and shows what went and came.

const RENEWAL_NOTE = 'The session is about to end: the page renews it.';

const picker = document.querySelector('#picker');
const buttons = [...picker.querySelectorAll('button')];
const events = document.querySelector('#events');

/** The frame, once the instance's script has come. */
let workspace;
/** The last login, for those who want to see a token refused that was used before. */
let lastLogin;

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

/** The one thing that the product takes from the instance: its script. */
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
  workspace = new window.EmbeddedInstance({ container, title: 'Automations, served by the instance' });
  const names = ['session-ready', 'session-expiring', 'session-ended', 'login-failed'];
  for (const name of names) workspace.on(name, (detail) => showEvent(name, detail));
  workspace.on('session-ready', () => show('state', 'The customer is signed in.'));
  workspace.on('session-ended', () => show('state', 'The session has ended.'));
  workspace.on('login-failed', () => show('state', 'The instance did not sign the customer in.'));
  workspace.on('session-expiring', () => {
    show('state', RENEWAL_NOTE);
    run(renew);
  });
}

async function newToken(customer) {
  const { token, header, claims } = await post('/token', { customer });
  showJson('sent', { header, claims });
  return token;
}

async function openAutomations() {
  const customer = new FormData(picker).get('customer');
  lastLogin = { customer, token: await newToken(customer) };
  workspace.login(lastLogin.token);
  showJson('returned', await post('/twin', { customer }));
}

async function renew() {
  workspace.renew(await newToken(lastLogin.customer));
}

async function sendAgain() {
  workspace.login(lastLogin.token);
  showJson('returned', await post('/twin', { customer: lastLogin.customer, again: true }));
}

async function leave() {
  workspace.logout();
}

/** Runs one job with the buttons disabled, and tells what went wrong if it fails. */
async function run(job) {
  for (const button of buttons) button.disabled = true;
  try {
    await job();
  } catch (error) {
    show('state', `That did not work: ${error.message ?? 'the instance’s script could not be loaded'}`);
  } finally {
    for (const { id } of buttons) {
      document.querySelector(`#${id}`).disabled = id !== 'open' && lastLogin === undefined;
    }
  }
}

picker.addEventListener('submit', (event) => {
  event.preventDefault();
  run(openAutomations);
});
for (const [id, job] of Object.entries({ renew, again: sendAgain, leave })) {
  document.querySelector(`#${id}`).addEventListener('click', () => run(job));
}

run(async () => {
  const { instanceUrl, customers } = await read(await fetch('/desk'));
  document.querySelector('#customers').append(...customers.map(choiceOf));
  await loadScript(instanceUrl);
  makeWorkspace();
  await openAutomations();
});
