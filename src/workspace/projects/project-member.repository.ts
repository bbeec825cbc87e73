// Project members: the entity and the API's queries. See instance-projects.ts for the queries of tokens.
import { Injectable } from '@nestjs/common';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import type { PageRange } from '../api/pages.js';
import type { ProjectRole } from '../rights/rights.js';

@Entity('project_member')
export class ProjectMember {
  @PrimaryColumn('uuid', { name: 'project_id' })
  projectId!: string;

  @PrimaryColumn('uuid', { name: 'user_id' })
  userId!: string;

  @Column('text')
  role!: ProjectRole;

  /** The role that a user assigned, if a claim gives the membership too. */
  @Column('text', { name: 'own_role', nullable: true })
  ownRole?: ProjectRole | null;

  /** The issuer whose claim gives the membership; null if a user gave it. */
  @Column('text', { nullable: true })
  issuer?: string | null;
}

/** A member with the user's properties for the list. */
interface MemberRow {
  /** The user's id. */
  readonly id: string;
  readonly email: string;
  readonly givenName: string;
  readonly familyName: string;
  readonly role: ProjectRole;
  readonly issuer: string | null;
}

const SELECT_MEMBERS = `SELECT u.id, u.email, u.given_name AS "givenName", u.family_name AS "familyName", member.role, member.issuer
  FROM project_member member JOIN user_account u ON u.id = member.user_id
  WHERE member.project_id = $1`;

@Injectable()
export class ProjectMemberRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** A page of a project's members, sorted by user id. */
  list(projectId: string, { afterId, limit }: PageRange): Promise<MemberRow[]> {
    return this.dataSource.query<MemberRow[]>(
      `${SELECT_MEMBERS} AND ($2::uuid IS NULL OR member.user_id > $2) ORDER BY member.user_id LIMIT $3`,
      [projectId, afterId ?? null, limit],
    );
  }

  async find(projectId: string, userId: string): Promise<MemberRow | undefined> {
    const rows = await this.dataSource.query<MemberRow[]>(`${SELECT_MEMBERS} AND member.user_id = $2`, [
      projectId,
      userId,
    ]);
    return rows[0];
  }

  /**
   * The constraints decide whether the user is already a member, and whether user and project (still) exist.
   * @throws QueryFailedError with a unique violation, with a foreign key violation
   */
  async insert(transaction: Transaction, member: ProjectMember): Promise<void> {
    await managerOf(transaction).insert(ProjectMember, member);
  }

  async changeRole({ projectId, userId, role }: ProjectMember): Promise<void> {
    await this.dataSource.query(
      `UPDATE project_member SET role = $3, own_role = CASE WHEN issuer IS NOT NULL THEN $3 END
       WHERE project_id = $1 AND user_id = $2`,
      [projectId, userId, role],
    );
  }

  /** @returns whether the user was a member */
  async delete(projectId: string, userId: string): Promise<boolean> {
    const { affected } = await this.dataSource.manager.delete(ProjectMember, { projectId, userId });
    return affected === 1;
  }
}
