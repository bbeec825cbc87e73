// Runs in the unseen frame that a host page renews the session with: tells the frame that is seen.
import { announceChange } from './session.js';

announceChange();
