// What implements the users' ports, for the running service and for commands that use the database directly.
import type { Provider } from '@nestjs/common';
import { OperatorSessions, PersonalProjects } from '../../users/user-ports.js';
import { PersonalProjectRepository } from '../../workspace/projects/project.repository.js';
import { OperatorSessionRepository } from './operator-session.repository.js';

export const USER_PORTS: Provider[] = [
  OperatorSessionRepository,
  { provide: OperatorSessions, useExisting: OperatorSessionRepository },
  { provide: PersonalProjects, useClass: PersonalProjectRepository },
];
