// A Vite app of React 19 with the bare element: the script of the instance comes after it has rendered.
import { createRoot } from 'react-dom/client';
import type { ElementAttributes } from '@embedded-token-exchange/embed/react';
import { host } from './host.js';

const fetchToken = () => host.fetchToken(host.state.userKey);
const ref: ElementAttributes['ref'] = (element) => {
  if (element) element.fetchToken = fetchToken;
};

createRoot(document.getElementById('app')!).render(<embedded-instance title="Automation" ref={ref} />);
