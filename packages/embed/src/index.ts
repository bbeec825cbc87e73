// The exports of the npm package for host pages, except its components for React and Vue.
export { EmbeddedInstance } from './embedded-instance.js';
export { EmbeddedInstanceElement } from './embedded-instance-element.js';
export type {
  EmbeddedInstanceError,
  EmbeddedInstanceEvents,
  EmbeddedSession,
  LoginFailure,
} from './events.js';
export type {
  Appearance,
  ChangeableOptions,
  EmbeddedInstanceOptions,
  FetchToken,
  TokenSource,
} from './options.js';
