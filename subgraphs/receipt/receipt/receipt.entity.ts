import 'reflect-metadata';
import { Directive, Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { type ProofOutcome, proofOutcomes, type SettledBy } from '../../../schema/receipt-payload.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { wordEnum } from '../../graph-enum.ts';
import { AtomicAmountColumn, BigIntType, Entity, Index, PrimaryKey, Property } from '../../table.ts';
import { SettledByWord } from '../../words.ts';
import type { AnsweredAgain } from './unsigned-facts.ts';

const ProofOutcomeWord = wordEnum(proofOutcomes);

/**
 * A signed receipt: one leaf of the log. What is signed is written once. Beside it stand the lane's facts, which may
 * change (`settledBy`, `proofOutcome`, `ingressReceipt`, `omissionRule`, `answeredAgain`), and in development `chainEnded`.
 */
@Directive('@key(fields: "taskId")')
@ObjectType({ description: 'A signed spend receipt: one leaf of the append-only log.' })
@Entity()
@Index({
  name: 'receipt_payer',
  properties: ['payerWallet', 'leafIndex'],
  where: 'payer_wallet is not null and payment_ref is not null',
})
@Index({ name: 'receipt_agent', properties: ['agentId', 'leafIndex'], where: 'agent_id is not null' })
export class Receipt {
  @Field(() => String, { description: 'The task that it is of.' })
  @PrimaryKey({ type: 'text' })
  taskId!: string;

  @Field(() => Int, { description: 'Its place in the log, from 0.' })
  @Property({ type: new BigIntType('number'), unique: true })
  leafIndex!: number;

  @Field(() => Int, { description: 'Size of the log prefix that ends with this receipt.' })
  @Property({ type: new BigIntType('number') })
  treeSize!: number;

  @Field(() => String, { description: 'Root of the log prefix that ends with it; lower-case hex, as all hashes.' })
  @Property({ type: 'text' })
  rootHash!: string;

  @Field(() => String, {
    description: 'SHA-256 of the canonical {log_id, tree_size, root_hash}: what its signature binds it to.',
  })
  @Property({ type: 'text' })
  treeHeadHash!: string;

  /** Canonical JSON, verbatim: the leaf is its RFC 6962 hash. */
  @Directive('@cost(weight: 5)')
  @Field(() => String, {
    name: 'preimage',
    description: 'The unsigned payload in canonical JSON (RFC 8785): what payloadHash is of.',
  })
  @Property({ type: 'text' })
  payload!: string;

  @Field(() => String, { description: 'SHA-256 of the canonical payload.' })
  @Property({ type: 'text' })
  payloadHash!: string;

  @Field(() => Int, { description: 'Of the signed payload: 8 to 11, or 4 of a book chain.' })
  @Property({ type: 'smallint' })
  payloadVersion!: number;

  @Field(() => String, { description: 'ES256 JWS: the receipt as it was signed.' })
  @Property({ type: 'text' })
  jws!: string;

  @Field(() => String, { description: 'Which of the published keys signed it.' })
  @Property({ type: 'text' })
  kid!: string;

  /** Raw ES256 over the canonical payload, base64url: the form in which version-8 receipts were checked. */
  @Property({ type: 'text' })
  value!: string;

  @Property({ type: 'json', columnType: 'jsonb' })
  signature!: JsonObject;

  @Property({ type: 'json', columnType: 'jsonb' })
  coSignature!: JsonObject;

  @Field(() => String, { nullable: true, description: '`network:transaction`; null where nothing was paid.' })
  @Property({ type: 'text', nullable: true })
  paymentRef!: string | null;

  @Field(() => Int, { nullable: true, description: 'The book on which the row stands.' })
  @Property({ type: 'integer', nullable: true })
  agentId!: number | null;

  @Field(() => Int, { nullable: true, description: 'Its row on that book.' })
  @Property({ type: new BigIntType('number'), nullable: true })
  bookSeq!: number | null;

  @Field(() => String, {
    nullable: true,
    description: 'Who paid this service; null where a key stood in, and of a payment to somebody else.',
  })
  @Property({ type: 'text', nullable: true })
  payerWallet!: string | null;

  @Field(() => String, { description: 'The hub that answered.' })
  @Property({ type: 'text' })
  hub!: string;

  @Field(() => String, {
    description: 'Model that the hub was asked for, or what else was sold. See answeredModel of the payload.',
  })
  @Property({ type: 'text' })
  model!: string;

  @Field(() => AtomicAmountScalar, {
    nullable: true,
    description: 'Atomic units of the rail: USDC, but of a book chain on Nano; null where nothing was paid.',
  })
  @Property({ type: new AtomicAmountColumn(), nullable: true })
  amount!: AtomicAmount | null;

  @Field(() => SettledByWord, {
    nullable: true,
    description: 'By whose word it counts as settled; null where nothing was paid.',
  })
  @Property({ type: 'text', nullable: true })
  settledBy!: SettledBy | null;

  @Field(() => ProofOutcomeWord, { description: 'What is known of its money.' })
  @Property({ type: 'text' })
  proofOutcome!: ProofOutcome;

  /** `{ref, confirmed_at}`: where a transfer was seen that was only vouched for when this was signed. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  ingressReceipt!: JsonObject | null;

  /** Why it was given up looking for that transfer. */
  @Property({ type: 'text', nullable: true })
  omissionRule!: string | null;

  /** Which development chain it was paid on; 0 on Base itself. */
  @Property({ type: 'integer', default: 0 })
  chainEpoch!: number;

  /** The development chain that carried the payment is gone: nobody can look the payment up any more. */
  @Property({ type: 'boolean', default: false })
  chainEnded!: boolean;

  @Field(() => DateTimeScalar, { description: 'When it was signed.' })
  @Property({ type: 'Date', columnType: 'timestamptz(3)' })
  issuedAt!: Date;

  @Field(() => DateTimeScalar, { description: 'When it was collected; no later than the receipt after it.' })
  @Property({ type: 'Date', columnType: 'timestamptz(3)' })
  collectedAt!: Date;

  /** What the same payment brought later, where the answer was not whole. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  answeredAgain!: AnsweredAgain | null;
}
