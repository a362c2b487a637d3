import 'reflect-metadata';
import { ObjectType } from 'type-graphql';
import type { MembersOf } from '../../../schema/noun.ts';
import type { PolicyCode } from '../../../schema/policy-kinds.ts';
import type { RefusalCode } from '../../../schema/policy-rule.ts';
import { RefusalNodeNoun } from '../../../schema/refusal.ts';
import { showMembers } from '../../graph-type.ts';
import { BigIntType, Entity, PrimaryKey, Property, Unique } from '../../table.ts';

/**
 * Signed statement of the issuer that it refused a call because of the book's policy. Written once, together with the book's row that it
 * names.
 */
@ObjectType('Refusal', { description: 'A signed refusal of a call. It is neither a receipt nor spend.' })
@Entity({ tableName: 'refusal' })
@Unique({ name: 'refusal_row', properties: ['agentId', 'bookSeq'] })
export class SignedRefusal implements MembersOf<typeof RefusalNodeNoun> {
  @PrimaryKey({ type: 'text' })
  refusalId!: string;

  @Property({ type: 'integer' })
  agentId!: number;

  @Property({ type: new BigIntType('number') })
  bookSeq!: number;

  @Property({ type: 'text' })
  @Unique({ name: 'refusal_task' })
  taskId!: string;

  @Property({ type: 'text' })
  refusalCode!: RefusalCode;

  @Property({ type: 'text' })
  policyCode!: PolicyCode;

  /** Signed payload as canonical JSON, byte for byte. */
  @Property({ type: 'text' })
  payload!: string;

  @Property({ type: 'text' })
  jws!: string;

  @Property({ type: 'text' })
  kid!: string;

  /** Raw ES256 signature over the canonical payload, in base64url. */
  @Property({ type: 'text' })
  value!: string;

  @Property({ type: 'Date', columnType: 'timestamptz(3)' })
  issuedAt!: Date;

  get policyBlockedSeq(): number {
    return this.bookSeq;
  }
}
showMembers(SignedRefusal, RefusalNodeNoun);
