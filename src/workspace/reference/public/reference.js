// Shows the description of the API by Swagger UI: with a search over all operations, and calls by Bearer alone.

// The library, a script before this one.
const { SwaggerUIBundle } = window;
const DARK = matchMedia('(prefers-color-scheme: dark)');
/** What a search looks in, beside method and path. */
const SEARCHED = ['summary', 'description', 'operationId'];
/** What elements lack: a name; a place among those that keys reach, where they scroll; a role, where they are no heading. */
const LACKING = [
  ['.body-param__text', 'aria-label', 'Request body'],
  ['.close-modal', 'aria-label', 'Close'],
  ['.microlight', 'tabindex', '0'],
  ['.auth-container h6', 'role', 'presentation'],
];
/** What would call a table a landmark, and buttons other than they are written. */
const UNTRUE = [
  ['table[role=region]', 'role'],
  ['.auth-btn-wrapper [aria-label]', 'aria-label'],
];

/** Swagger UI has dark colours, and shows them where this class is. */
function followTheme() {
  document.documentElement.classList.toggle('dark-mode', DARK.matches);
}

/** Each word must be somewhere in what an operation says of itself. */
function isFound(operation, tag, words) {
  const said = SEARCHED.map((member) => operation.getIn(['operation', member]) ?? '');
  const text = [tag, operation.get('method'), operation.get('path'), ...said].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Swagger UI's own filter finds tags, by their exact spelling. */
function search(tags, phrase) {
  const words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
  const found = tags.map((content, tag) =>
    content.update('operations', (operations) =>
      operations.filter((operation) => isFound(operation, tag, words)),
    ),
  );
  return found.filter((content) => content.get('operations').size > 0);
}

/** The field for it. The other one says that it filters by tag. */
function searchField({ React: { createElement, useState } }) {
  return function SearchField({ layoutActions, layoutSelectors }) {
    const current = layoutSelectors.currentFilter();
    const [text, setText] = useState(typeof current === 'string' && current !== 'true' ? current : '');
    const change = ({ target: { value } }) => {
      setText(value);
      layoutActions.updateFilter(value === '' ? true : value);
    };
    const label = 'Search operations';
    const field = { type: 'search', value: text, onChange: change, 'aria-label': label, placeholder: label };
    return createElement('div', { className: 'reference-search' }, createElement('input', field));
  };
}

/** Everything within the main landmark, under headings. Swagger UI's own layout has its operations alone there. */
function layout({ React: { createElement } }) {
  return function ReferenceLayout({ errSelectors, getComponent, specSelectors }) {
    const part = (name) => createElement(getComponent(name, true));
    const wide = (...parts) => createElement('div', { className: 'wrapper' }, ...parts);
    const isLoaded = specSelectors.loadingStatus() === 'success';
    const hasFailed = errSelectors.lastError() !== undefined;
    const state = hasFailed ? 'The description could not be loaded.' : 'Loading …';
    if (!isLoaded) return createElement('main', null, createElement('p', { role: 'status' }, state));
    return createElement(
      'main',
      { className: 'swagger-ui' },
      wide(part('InfoContainer')),
      wide(createElement('h2', null, 'Operations'), part('AuthorizeBtnContainer')),
      part('FilterContainer'),
      wide(part('operations')),
      wide(part('Models')),
    );
  };
}

/** Swagger UI has a link within the button that opens an operation. Without it the address still names what is open. */
const textOnly = ({ React }) =>
  function Text({ text }) {
    return React.createElement('span', null, text);
  };

const referencePlugin = (system) => ({
  fn: { opsFilter: search },
  components: { ReferenceLayout: layout(system) },
  wrapComponents: { FilterContainer: () => searchField(system), DeepLink: () => textOnly(system) },
  // A page cannot send a cookie by its name: what is to be entered is a Bearer.
  statePlugins: {
    auth: {
      wrapSelectors: {
        definitionsToAuthorize: (original) => (state) =>
          original(state).filter((scheme) => scheme.first().get('type') !== 'apiKey'),
      },
    },
  },
});

/** Gives the controls of Swagger UI what they lack, and takes roles and names away that are not true. */
function describeControls() {
  for (const row of document.querySelectorAll('tr[data-param-name]'))
    row.querySelector('select')?.setAttribute('aria-label', row.dataset.paramName);
  for (const [selector, attribute, value] of LACKING)
    document.querySelectorAll(selector).forEach((element) => element.setAttribute(attribute, value));
  for (const [selector, attribute] of UNTRUE)
    document.querySelectorAll(selector).forEach((element) => element.removeAttribute(attribute));
}

/** Calls are made with the token that was entered, and never in the name of a session that the browser has. */
function withoutSession(request) {
  request.credentials = 'omit';
  return request;
}

new MutationObserver(describeControls).observe(document.body, { childList: true, subtree: true });
followTheme();
DARK.addEventListener('change', followTheme);
SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#reference',
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [referencePlugin],
  layout: 'ReferenceLayout',
  filter: true,
  deepLinking: true,
  displayRequestDuration: true,
  // All bodies by name, once somebody asks for them.
  defaultModelsExpandDepth: 0,
  // Its own colours of numbers cannot be read on their ground.
  syntaxHighlight: { theme: 'obsidian' },
  requestInterceptor: withoutSession,
  tryItOutEnabled: true,
  // Asks a foreign host otherwise.
  validatorUrl: null,
});
