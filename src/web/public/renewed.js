// Runs in the unseen frame that a host renews the session with: tells the frame that is seen.
import { announceChange } from './session.js';

announceChange();
