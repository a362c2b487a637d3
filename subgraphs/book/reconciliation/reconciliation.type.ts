import { GraphQLJSONObject } from 'graphql-scalars';
import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId, ReconciliationId } from '../../../schema/ids.ts';
import {
  type ReconciliationFault,
  type ReconciliationState,
  reconciliationFaults,
  reconciliationStates,
  type WalletProvenBy,
  walletProvenBy,
} from '../../../schema/reconciliation.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { wordEnum } from '../../graph-enum.ts';
import type { StoredReconciliation } from './reconciliation.entity.ts';

const ReconciliationStateWord = wordEnum(reconciliationStates);
const ReconciliationFaultWord = wordEnum(reconciliationFaults);
const WalletProvenByWord = wordEnum(walletProvenBy);

@InputType({ description: 'Which wallet’s transfers, between which blocks of Base, and what proves the wallet.' })
export class ReconciliationInput {
  @Field(() => String, { description: 'An address on Base.' }) wallet!: string;
  @Field(() => Int, { description: 'The first block.' }) fromBlock!: number;
  @Field(() => Int, { description: 'The last one: 50,000 blocks at most, both ends included.' }) toBlock!: number;
  @Field(() => String, {
    nullable: true,
    description:
      'Left out where it is agentWallet. Over `svc.reconcile|<base URL of this service>|<agent_id>|<checksum_address>|<unix_seconds>`.',
  })
  signature?: string | null;
  @Field(() => Int, { nullable: true, description: 'When it signed, in Unix seconds: passes for 300 seconds.' })
  signedAt?: number | null;
}

@ObjectType({ description: 'What each USDC transfer of a wallet is, as a report that is made block by block.' })
export class Reconciliation {
  @Field(() => String, { description: 'Its id.' }) reportId!: ReconciliationId;
  @Field(() => Int, { description: 'Whose book.' }) agentId!: AgentId;
  @Field(() => String, { description: 'In EIP-55 spelling.' }) wallet!: string;
  @Field(() => WalletProvenByWord, { description: 'By what it is the asker’s.' }) walletProvenBy!: WalletProvenBy;
  @Field(() => Int, { description: 'The first block.' }) fromBlock!: number;
  @Field(() => Int, { description: 'The last one.' }) toBlock!: number;
  @Field(() => ReconciliationStateWord, { description: 'Where it stands.' }) state!: ReconciliationState;
  @Field(() => ReconciliationFaultWord, { nullable: true, description: 'Why there is no report.' })
  reason!: ReconciliationFault | null;
  @Field(() => Int, { description: 'Blocks that were read so far.' }) blocksDone!: number;
  @Field(() => Int, { description: 'Of so many.' }) blocksTotal!: number;
  @Field(() => Int, { description: 'Transfers that were found so far.' }) transfersFound!: number;
  @Field(() => DateTimeScalar, { description: 'When it was asked for.' }) askedAt!: Date;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it was signed, or failed.' }) endedAt!: Date | null;
  @Directive('@cost(weight: 10)')
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'svc402.reconciliation.v1, signed: `npm run verify` checks it offline. Null until it is done.',
  })
  report!: JsonObject | null;
}

export function shownReconciliation(stored: StoredReconciliation): Reconciliation {
  const { fromBlock, toBlock, nextBlock, document, provenBy, transfers, ...rest } = stored;
  return {
    reportId: rest.reportId,
    agentId: rest.agentId,
    wallet: rest.wallet,
    walletProvenBy: provenBy,
    fromBlock,
    toBlock,
    state: rest.state,
    reason: rest.reason,
    blocksDone: nextBlock - fromBlock,
    blocksTotal: toBlock - fromBlock + 1,
    transfersFound: transfers,
    askedAt: rest.askedAt,
    endedAt: rest.endedAt,
    report: document === null ? null : (JSON.parse(document) as JsonObject),
  };
}
