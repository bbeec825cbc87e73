// Fetches a token for the picked customer, posts it into the frame, and shows what went and what came.

const picker = document.querySelector('#picker');
const login = document.querySelector('#login');
const frame = document.querySelector('iframe');
const openButton = document.querySelector('#open');
const againButton = document.querySelector('#again');

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

/** Posts the form into the frame and waits until the frame has loaded. */
async function postIntoFrame() {
  const startedAt = performance.now();
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  login.submit();
  await loaded;
  show('state', `The frame has loaded, ${Math.round(performance.now() - startedAt)} ms after the post.`);
}

async function openAutomations() {
  const customer = new FormData(picker).get('customer');
  const { action, token, header, claims } = await post('/token', { customer });
  login.action = action;
  login.elements.token.value = token;
  login.dataset.customer = customer;
  showJson('sent', { header, claims });
  await postIntoFrame();
  showJson('returned', await post('/twin', { customer }));
}

async function sendAgain() {
  await postIntoFrame();
  showJson('returned', await post('/twin', { customer: login.dataset.customer, again: true }));
}

/** Runs one job with the buttons disabled, and tells what went wrong if it fails. */
async function run(job) {
  openButton.disabled = againButton.disabled = true;
  show('state', 'One moment …');
  try {
    await job();
  } catch (error) {
    show('state', `That did not work: ${error.message}`);
  } finally {
    openButton.disabled = false;
    againButton.disabled = login.elements.token.value === '';
  }
}

picker.addEventListener('submit', (event) => {
  event.preventDefault();
  run(openAutomations);
});
againButton.addEventListener('click', () => run(sendAgain));

const customers = await read(await fetch('/customers'));
document.querySelector('#customers').append(...customers.map(choiceOf));
run(openAutomations);
