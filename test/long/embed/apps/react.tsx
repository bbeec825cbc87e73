// A Vite app of React 19 in StrictMode, which mounts the component, takes it away and changes its user as the test asks.
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { EmbeddedInstance } from '@embedded-token-exchange/embed/react';
import { host } from './host.js';

function App() {
  const [{ userKey, isShown }, set] = useState(host.state);
  host.set = set;
  if (!isShown) return <p>Nothing</p>;
  return (
    <EmbeddedInstance
      url={host.instance}
      title="Automation"
      userKey={userKey}
      fetchToken={() => host.fetchToken(userKey)}
      onSessionReady={({ userId }) => host.events.push(`ready ${userId}`)}
      onLoginFailed={({ error }) => host.events.push(`failed ${error}`)}
    />
  );
}

createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
