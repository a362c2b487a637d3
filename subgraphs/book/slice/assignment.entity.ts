import { Field, Int, ObjectType } from 'type-graphql';
import type { AgentId, AssignmentId } from '../../../schema/ids.ts';
import type { ProvenBy } from '../../../schema/principal.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { assignmentStatuses, type GrantType, grantTypes, type Slice } from '../../../schema/slice.ts';
import { wordEnum } from '../../graph-enum.ts';
import { Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';
import { ProofMeansWord } from '../policy/policy.type.ts';

export const GrantTypeWord = wordEnum(grantTypes);
export const AssignmentStatusWord = wordEnum(assignmentStatuses);

/**
 * A slice of a book, opened to whoever holds its token. Nothing of it changes but that it is revoked, once. It is no term
 * of the book, which no signature depends on: so it is no event either, and says itself who did what and when.
 */
@ObjectType({ description: 'A slice of a book, opened to whoever holds its token.' })
@Entity({ tableName: 'slice_assignment' })
export class SliceAssignment {
  @Field(() => String, { description: 'Its own id; not the token.' })
  @PrimaryKey({ type: 'text' })
  assignmentId!: AssignmentId;

  @Field(() => Int, { description: 'Whose book.' })
  @Property({ type: 'integer' })
  @Index({ name: 'slice_assignment_book' })
  agentId!: AgentId;

  @Field(() => GrantTypeWord, { description: 'What its token does.' })
  @Property({ type: 'text' })
  grantType!: GrantType;

  @Field(() => String, { nullable: true, description: 'For whom, in words of the owner.' })
  @Property({ type: 'text', nullable: true })
  grantee!: string | null;

  @Property({ type: 'json', columnType: 'jsonb' })
  slice!: Slice;

  @Field(() => DateTimeScalar, { nullable: true, description: 'When it ends by itself; null: not at all.' })
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  expiresAt!: Date | null;

  /** SHA-256, hex; shown to nobody. */
  @Property({ type: 'text' })
  @Unique({ name: 'slice_assignment_token' })
  tokenHash!: string;

  @Field(() => DateTimeScalar, { description: 'When it was made.' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  createdAt!: Date;

  @Field(() => ProofMeansWord, { description: 'By what whoever made it had opened the book.' })
  @Property({ type: 'text', default: 'session' })
  createdBy!: ProvenBy['by'];

  @Field(() => String, { description: 'Of the session behind that: SHA-256, its first 16 hex digits.' })
  @Property({ type: 'text' })
  createdSession!: string;

  @Field(() => DateTimeScalar, { nullable: true, description: 'When it was revoked; null: it was not.' })
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  revokedAt!: Date | null;

  @Field(() => ProofMeansWord, { nullable: true, description: 'By what whoever revoked it had opened the book.' })
  @Property({ type: 'text', nullable: true })
  revokedBy!: ProvenBy['by'] | null;

  @Field(() => String, { nullable: true, description: 'Of the session behind that: SHA-256, its first 16 hex digits.' })
  @Property({ type: 'text', nullable: true })
  revokedSession!: string | null;
}
