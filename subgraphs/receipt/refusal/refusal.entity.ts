import 'reflect-metadata';
import { Field, Int, ObjectType } from 'type-graphql';
import { type RefusalCode, refusalCodes } from '../../../schema/refusal-payload.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { wordEnum } from '../../graph-enum.ts';
import { BigIntType, Entity, PrimaryKey, Property, Unique } from '../../table.ts';
import { PolicyCodeWord } from '../../words.ts';

const RefusalCodeWord = wordEnum(refusalCodes);

/** The issuer's word that it refused a call for its book's sake. Written once, with the row that it names. */
@ObjectType('Refusal', { description: 'A signed refusal: no receipt, and not spend.' })
@Entity({ tableName: 'refusal' })
@Unique({ name: 'refusal_row', properties: ['agentId', 'bookSeq'] })
export class SignedRefusal {
  @Field(() => String, { description: 'By which it is found.' })
  @PrimaryKey({ type: 'text' })
  refusalId!: string;

  @Field(() => Int, { description: 'Whose book refused.' })
  @Property({ type: 'integer' })
  agentId!: number;

  @Field(() => Int, { name: 'policyBlockedSeq', description: 'The row of that book that says the same.' })
  @Property({ type: new BigIntType('number') })
  bookSeq!: number;

  @Field(() => String, { description: 'The call that was refused.' })
  @Property({ type: 'text' })
  @Unique({ name: 'refusal_task' })
  taskId!: string;

  @Field(() => RefusalCodeWord, { description: 'Why, as it is signed.' })
  @Property({ type: 'text' })
  refusalCode!: RefusalCode;

  @Field(() => PolicyCodeWord, { description: 'Which rule of the book refused.' })
  @Property({ type: 'text' })
  policyCode!: string;

  /** Canonical JSON, verbatim. */
  @Property({ type: 'text' })
  payload!: string;

  @Field(() => String, { description: 'ES256 JWS: the refusal as it was signed.' })
  @Property({ type: 'text' })
  jws!: string;

  @Field(() => String, { description: 'Which of the published keys signed it.' })
  @Property({ type: 'text' })
  kid!: string;

  /** Raw ES256 over the canonical payload, base64url. */
  @Property({ type: 'text' })
  value!: string;

  @Field(() => DateTimeScalar, { description: 'When it was signed.' })
  @Property({ type: 'Date', columnType: 'timestamptz(3)' })
  issuedAt!: Date;
}
