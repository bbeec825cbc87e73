// Signs the product's user in to the frame with the instance's script, and renews the session before it ends.
const state = document.querySelector('#state');
const renewButton = document.querySelector('#renew');
const signOutButton = document.querySelector('#sign-out');

if (window.EmbeddedInstance) await show(window.EmbeddedInstance);
else state.textContent = 'unavailable: /embed.js could not be loaded';

async function show(EmbeddedInstance) {
  const automation = new EmbeddedInstance({
    container: document.querySelector('#automation'),
    title: 'Automation',
  });
  let sessions = 0;
  const renew = async () => automation.renew(await newToken());
  automation.on('session-ready', () => (state.textContent = `session ${++sessions}`));
  automation.on('session-expiring', renew);
  automation.on('session-ended', ({ reason }) => (state.textContent = `ended: ${reason}`));
  automation.on('login-failed', ({ error }) => (state.textContent = `failed: ${error}`));
  renewButton.addEventListener('click', renew);
  // The instance tells the frame.
  signOutButton.addEventListener('click', () => fetch('/sign-out', { method: 'POST' }));
  automation.login(await newToken());
}

/** Each token is for one login: ask for a new one every time. */
async function newToken() {
  const answer = await fetch('/embed-token', { method: 'POST' });
  if (!answer.ok) throw new Error(`the product answered ${answer.status}`);
  return answer.text();
}
