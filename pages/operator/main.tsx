// Starts the page: draws the shell into the document, and the view into its own element.
import { render } from 'preact';
import { shown, stage } from './navigation.js';
import { begin, phase } from './session.js';
import { Shell, View } from './shell.js';

/** The view stays while the same person signs in again. */
function Kept() {
  const { value: now } = phase;
  const isKept = now.kind === 'in' || (now.kind === 'out' && now.before !== null);
  return isKept ? <View key={shown.value.id} hash={shown.value.hash} news={shown.value.news} /> : null;
}

const root = document.createElement('div');
root.id = 'app';
document.body.append(root);
render(<Shell />, root);
render(<Kept />, stage);
void begin();
