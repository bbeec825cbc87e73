// Asks before something is done that cannot be undone, or that others feel at once, and does it.
import { freshId, h } from './dom.js';
import { attempt, problemPlace } from './states.js';

/**
 * Says what will happen, and does it when told to. What goes wrong is said in the dialog, which stays.
 * @param {{ title: string, text: any, action: string, isDanger?: boolean, run: () => Promise<unknown> }} what
 * @returns {Promise<{ result: any } | undefined>} undefined where it was not done
 */
export function confirm({ title, text, action, isDanger = false, run }) {
  const titleId = freshId('dialog-title');
  const textId = freshId('dialog-text');
  const problem = problemPlace();
  const cancel = h('button', { type: 'button', autofocus: true }, 'Cancel');
  const go = h('button', { type: 'button', class: isDanger ? 'danger' : 'primary' }, action);
  const dialog = h(
    'dialog',
    { class: 'card', 'aria-labelledby': titleId, 'aria-describedby': textId },
    h('h2', { id: titleId }, title),
    h('div', { id: textId, class: 'dialog-text' }, text),
    problem,
    h('div', { class: 'buttons' }, cancel, go),
  );
  document.body.append(dialog);
  return new Promise((resolve) => {
    let outcome;
    cancel.addEventListener('click', () => dialog.close());
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(outcome);
    });
    go.addEventListener('click', async () => {
      const isDone = await attempt(go, problem, async () => {
        outcome = { result: await run() };
      });
      if (isDone) dialog.close();
    });
    dialog.showModal();
  });
}

/** Closes whatever asks: nothing of it is done. */
export function closeDialogs() {
  for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close();
}
