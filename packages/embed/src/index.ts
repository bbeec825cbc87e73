// What the npm package for host pages exports beside its components for React and Vue.
export { EmbeddedInstance } from './embedded-instance.js';
export { EmbeddedInstanceElement } from './embedded-instance-element.js';
export type {
  Appearance,
  EmbeddedInstanceError,
  EmbeddedInstanceEvents,
  EmbeddedInstanceOptions,
  EmbeddedSession,
  LoginFailure,
} from './options.js';
