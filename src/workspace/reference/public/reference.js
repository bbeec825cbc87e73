// Shows the description of the API by Swagger UI: with a search over all operations, and calls by Bearer alone.

// The library, a script before this one.
const { SwaggerUIBundle } = window;
const DARK = matchMedia('(prefers-color-scheme: dark)');
/** What a search looks in, beside method and path. */
const SEARCHED = ['summary', 'description', 'operationId'];

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
function searchField({ React }) {
  return function SearchField({ layoutActions, layoutSelectors }) {
    const { useState, createElement } = React;
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

const searchPlugin = (system) => ({
  fn: { opsFilter: search },
  wrapComponents: { FilterContainer: () => searchField(system) },
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

/** Calls are made with the token that was entered, and never in the name of a session that the browser has. */
function withoutSession(request) {
  request.credentials = 'omit';
  return request;
}

followTheme();
DARK.addEventListener('change', followTheme);
SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#reference',
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [searchPlugin],
  layout: 'BaseLayout',
  filter: true,
  deepLinking: true,
  displayRequestDuration: true,
  // All bodies by name, once somebody asks for them.
  defaultModelsExpandDepth: 0,
  requestInterceptor: withoutSession,
  tryItOutEnabled: true,
  // Asks a foreign host otherwise.
  validatorUrl: null,
});
