// Runs on the page for unknown addresses, and shows the message in the visitor's language.
import { applyLook, lookInAddress } from '../shared/appearance.js';
import { language } from '../shared/language.js';

const GERMAN = {
  h1: 'Seite nicht gefunden',
  p: 'Vielleicht enthält die Adresse einen Tippfehler, oder die Seite wurde verschoben.',
  a: 'Zu den Workflows',
};

applyLook(lookInAddress(location.search));
if (language.value === 'de')
  for (const [name, text] of Object.entries(GERMAN))
    document.querySelector(`main ${name}`)?.replaceChildren(text);
