// Every word of the pages, in each language that they speak; nothing that a page says stands elsewhere.
// A value is a text, or a function that makes one. What it is given is set apart by `isolated`, whatever its direction.

/** Keeps a name that runs from right to left from turning its sentence round (Unicode TR9, isolates). */
const isolated = (name) => `\u2068${name}\u2069`;

const en = {
  workflows: 'Workflows',
  signedInAs: 'Signed in as',
  signOut: 'Sign out',
  signOutProblem: 'Signing out did not work. Please try again.',
  owner: 'Owner',
  administrator: 'Administrator',
  member: 'Member',

  search: 'Search workflows',
  state: 'State',
  allStates: 'All',
  sortBy: 'Sort by',
  byChange: 'Last change',
  byName: 'Name',
  loading: 'Loading workflows …',
  count: (count) => (count === '1' ? '1 workflow' : `${count} workflows`),
  countOver: (count) => `Over ${count} workflows`,
  found: (count) => `${count} found`,
  foundOver: (count) => `Over ${count} found`,
  refresh: 'Refresh',
  loadMore: 'Load more',
  moreProblem: 'More workflows could not be loaded. Please try again.',
  shown: (count) => `${count} shown`,

  active: 'Active',
  inactive: 'Inactive',
  changed: 'Changed',
  justNow: 'just now',
  isActive: (name) => `${isolated(name)} is active now.`,
  isInactive: (name) => `${isolated(name)} is inactive now.`,
  changeProblem: 'This could not be changed. Please try again.',
  changeForbidden: 'You can no longer change this workflow.',
  changeGone: 'This workflow no longer exists.',

  emptyTitle: 'No workflows yet',
  emptyText: 'Workflows that you create or that are shared with you appear here.',
  lookAgain: 'Check again',
  noneTitle: 'No matching workflows',
  noneText: 'Try other search terms, or choose another state.',
  clearFilters: 'Show all workflows',

  failureTitle: 'The workflows could not be loaded',
  detailFailureTitle: 'The workflow could not be loaded',
  goneTitle: 'This workflow does not exist',
  goneText: 'It may have been deleted, or it is no longer shared with you.',
  tryLater: 'Please try again in a moment.',
  checkConnection: 'Check your connection, then try again.',
  tryAgain: 'Try again',
  forSupport: 'If you ask for support, give this reference:',

  back: 'All workflows',
  made: 'Created',
  project: 'Project',
  personalProject: 'Personal',
  mayEdit: 'Can be edited by',
  you: 'You',
  notYou: 'Others (you can only view it)',
  administrators: 'administrators',
  steps: 'Steps',
  noSteps: 'This workflow has no steps yet.',
  unnamedStep: 'Step without a name',
  unnamed: 'Workflow without a name',
  leadsTo: (names) => `Leads to ${names.map(isolated).join(', ')}`,
  definition: 'Definition',

  notSignedInTitle: 'You are not signed in',
  endedTitle: 'Your session has ended',
  providerTitle: 'Your identity provider has signed you out',
  signedOutTitle: 'You have signed out',
  openFromProduct: 'Open it again in the product that you use it in.',
  anotherTitle: 'Another user has signed in',
  anotherText: 'Only one user can be signed in with this browser at a time, so nothing more is shown here.',
  goOn: 'Continue',
  reload: 'Reload',

  failedTitle: 'You could not be signed in',
  failedText: 'Reload the page. If that does not help, contact support.',
  failedAgain: 'This sign-in has expired or was already used. Reload the page to try again.',
  failedDisabled: 'Your access has been switched off. Ask your administrator.',
  failedOften: 'There were too many sign-ins within a short time. Wait a minute, then reload the page.',
  failedOff: 'Signing in is not available at the moment. Please try again later.',
  reason: 'Reason:',
  request: 'Reference:',

  missingTitle: 'Page not found',
  missingText: 'The address may be mistyped, or the page has moved.',
  toWorkflows: 'Go to the workflows',
  renewed: 'You are signed in.',
};

const de = {
  workflows: 'Workflows',
  signedInAs: 'Angemeldet als',
  signOut: 'Abmelden',
  signOutProblem: 'Die Abmeldung ist fehlgeschlagen. Bitte versuchen Sie es erneut.',
  owner: 'Inhaber',
  administrator: 'Administrator',
  member: 'Mitglied',

  search: 'Workflows suchen',
  state: 'Status',
  allStates: 'Alle',
  sortBy: 'Sortieren nach',
  byChange: 'Letzte Änderung',
  byName: 'Name',
  loading: 'Workflows werden geladen …',
  count: (count) => (count === '1' ? '1 Workflow' : `${count} Workflows`),
  countOver: (count) => `Über ${count} Workflows`,
  found: (count) => `${count} gefunden`,
  foundOver: (count) => `Über ${count} gefunden`,
  refresh: 'Aktualisieren',
  loadMore: 'Mehr laden',
  moreProblem: 'Weitere Workflows konnten nicht geladen werden. Bitte versuchen Sie es erneut.',
  shown: (count) => `${count} angezeigt`,

  active: 'Aktiv',
  inactive: 'Inaktiv',
  changed: 'Geändert',
  justNow: 'gerade eben',
  isActive: (name) => `${isolated(name)} ist jetzt aktiv.`,
  isInactive: (name) => `${isolated(name)} ist jetzt inaktiv.`,
  changeProblem: 'Die Änderung ist fehlgeschlagen. Bitte versuchen Sie es erneut.',
  changeForbidden: 'Sie dürfen diesen Workflow nicht mehr ändern.',
  changeGone: 'Diesen Workflow gibt es nicht mehr.',

  emptyTitle: 'Noch keine Workflows',
  emptyText: 'Hier erscheinen Workflows, die Sie erstellen oder die für Sie freigegeben werden.',
  lookAgain: 'Erneut prüfen',
  noneTitle: 'Keine passenden Workflows',
  noneText: 'Zu dieser Suche und diesem Status gibt es keine Workflows.',
  clearFilters: 'Alle Workflows anzeigen',

  failureTitle: 'Die Workflows konnten nicht geladen werden',
  detailFailureTitle: 'Der Workflow konnte nicht geladen werden',
  goneTitle: 'Diesen Workflow gibt es nicht',
  goneText: 'Er wurde möglicherweise gelöscht oder ist nicht mehr für Sie freigegeben.',
  tryLater: 'Bitte versuchen Sie es in Kürze noch einmal.',
  checkConnection: 'Prüfen Sie Ihre Verbindung und versuchen Sie es dann erneut.',
  tryAgain: 'Erneut versuchen',
  forSupport: 'Wenn Sie sich an den Support wenden, geben Sie bitte diese Referenznummer an:',

  back: 'Alle Workflows',
  made: 'Erstellt',
  project: 'Projekt',
  personalProject: 'Persönlich',
  mayEdit: 'Bearbeiten dürfen',
  you: 'Sie',
  notYou: 'Andere (Sie haben nur Lesezugriff)',
  administrators: 'Administratoren',
  steps: 'Schritte',
  noSteps: 'Dieser Workflow hat noch keine Schritte.',
  unnamedStep: 'Schritt ohne Namen',
  unnamed: 'Workflow ohne Namen',
  leadsTo: (names) => `Weiter mit ${names.map(isolated).join(', ')}`,
  definition: 'Definition',

  notSignedInTitle: 'Sie sind nicht angemeldet',
  endedTitle: 'Ihre Sitzung ist beendet',
  providerTitle: 'Ihr Anmeldedienst hat Sie abgemeldet',
  signedOutTitle: 'Sie haben sich abgemeldet',
  openFromProduct: 'Öffnen Sie diese Seite bitte in dem Produkt, in das sie eingebettet ist.',
  anotherTitle: 'Eine andere Person hat sich angemeldet',
  anotherText:
    'In diesem Browser kann immer nur eine Person angemeldet sein. Deshalb wird hier nichts mehr angezeigt.',
  goOn: 'Weiter',
  reload: 'Neu laden',

  failedTitle: 'Sie konnten nicht angemeldet werden',
  failedText: 'Laden Sie die Seite neu. Wenn das nicht hilft, wenden Sie sich an den Support.',
  failedAgain:
    'Diese Anmeldung ist abgelaufen oder wurde bereits verwendet. Laden Sie die Seite neu, um es erneut zu versuchen.',
  failedDisabled:
    'Ihr Zugang ist gesperrt. Wenden Sie sich an Ihre Administratorin oder Ihren Administrator.',
  failedOften:
    'Zu viele Anmeldungen in kurzer Zeit. Warten Sie eine Minute und laden Sie die Seite dann neu.',
  failedOff: 'Die Anmeldung ist zurzeit nicht möglich. Bitte versuchen Sie es später erneut.',
  reason: 'Grund:',
  request: 'Referenznummer:',

  missingTitle: 'Seite nicht gefunden',
  missingText: 'Vielleicht enthält die Adresse einen Tippfehler, oder die Seite wurde verschoben.',
  toWorkflows: 'Zu den Workflows',
  renewed: 'Sie sind angemeldet.',
};

const LANGUAGES = { en, de };

/** What is said under a name in the page's language. */
export function say(name, ...details) {
  const words = LANGUAGES[document.documentElement.lang] ?? en;
  return typeof words[name] === 'function' ? words[name](...details) : words[name];
}

/** What the elements were given to say, to say it again in another language. */
const given = new WeakMap();

/** Has an element say something, also when the language changes. */
export function write(element, name, ...details) {
  element.dataset.say = name;
  given.set(element, details);
  element.textContent = say(name, ...details);
}

/** Writes everything below an element in the page's language: `data-say` is the text, `data-label` the accessible name. */
export function writeAll(root = document) {
  for (const element of root.querySelectorAll('[data-say]'))
    element.textContent = say(element.dataset.say, ...(given.get(element) ?? []));
  for (const element of root.querySelectorAll('[data-label]')) element.ariaLabel = say(element.dataset.label);
  for (const element of root.querySelectorAll('[data-hint]')) element.placeholder = say(element.dataset.hint);
}
