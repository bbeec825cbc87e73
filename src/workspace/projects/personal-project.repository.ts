// Inserts users' personal projects.
import { Injectable } from '@nestjs/common';
import { sql } from '../../platform/database/sql.js';
import { PersonalProjects } from '../../users/user-ports.js';

@Injectable()
export class PersonalProjectRepository extends PersonalProjects {
  readonly ofMade = sql`personal AS (
    INSERT INTO project (id, type, name, personal_owner_id)
    SELECT gen_random_uuid(), 'personal', 'Personal', id FROM made RETURNING id, personal_owner_id
  ), membership AS (
    INSERT INTO project_member (project_id, user_id, role) SELECT id, personal_owner_id, 'project:admin' FROM personal
  )`;
}
