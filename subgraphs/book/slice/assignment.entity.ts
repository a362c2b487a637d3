import { ObjectType } from 'type-graphql';
import type { AgentId, AssignmentId } from '../../../schema/ids.ts';
import type { ProvenBy } from '../../../schema/principal.ts';
import { AssignmentNoun, type GrantType, type Slice } from '../../../schema/slice.ts';
import { showMembers } from '../../graph-type.ts';
import { Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

/**
 * An assignment opens a slice to the holder of its token. Only its revocation ever changes it. It is not a term of the book, on which
 * signatures depend, so no event records it. Its own columns record who created it, who revoked it, and when.
 */
@ObjectType({ description: 'An assignment: it opens a slice of a book to the holder of its token.' })
@Entity({ tableName: 'slice_assignment' })
export class SliceAssignment {
  @PrimaryKey({ type: 'text' })
  assignmentId!: AssignmentId;

  @Property({ type: 'integer' })
  @Index({ name: 'slice_assignment_book' })
  agentId!: AgentId;

  @Property({ type: 'text' })
  grantType!: GrantType;

  @Property({ type: 'text', nullable: true })
  grantee!: string | null;

  @Property({ type: 'json', columnType: 'jsonb' })
  slice!: Slice;

  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  expiresAt!: Date | null;

  /** SHA-256 of the token in hex. Never shown. */
  @Property({ type: 'text' })
  @Unique({ name: 'slice_assignment_token' })
  tokenHash!: string;

  @Property({ type: 'Date', columnType: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'text', default: 'session' })
  createdBy!: Exclude<ProvenBy['by'], 'plain_proof'>;

  @Property({ type: 'text' })
  createdSession!: string;

  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  revokedAt!: Date | null;

  @Property({ type: 'text', nullable: true })
  revokedBy!: ProvenBy['by'] | null;

  @Property({ type: 'text', nullable: true })
  revokedSession!: string | null;
}
showMembers(SliceAssignment, AssignmentNoun);
