import type { AgentId } from '../../schema/ids.ts';
import type { NetworkName } from '../../schema/network.ts';
import type { WebhookReach } from '../../schema/webhook/url.ts';
import type { Context } from '../context.ts';
import type { ForeignTransfers } from '../foreign-transfers.ts';
import type { ReadEvents } from '../live-feed.ts';
import { type Issuer } from '../receipt/issuer/signing-keys.ts';
import type { PaymentIndex } from '../receipt/receipt/own-transfer.ts';
import type { Selling } from '../selling.ts';
import type { FreeWalletProofs } from '../wallet-proofs.ts';
import type { JobPaidBy } from './dispute/disputed-job.ts';
import type { FailedLooks } from './ingest/failed-looks.ts';
import type { BookEvent } from './ledger/event.entity.ts';
import type { RouterLookUps } from './router/look-up.ts';
import type { Reports } from './router/reports.ts';

/* What a resolver of this subgraph is handed beyond what all are. */

export interface BookContext extends Context, Selling {
  readonly issuer: Issuer;
  /** One reader per process, so that equal subscribers share their reads of the ledger. */
  readonly readBookEvents: ReadEvents<number, BookEvent>;
  readonly free_wallets: FreeWalletProofs;
  /** Payments that were made to somebody else, as their chains show them. */
  readonly transfers: ForeignTransfers;
  /** Null where no feature keeps one. */
  readonly payment_index: PaymentIndex | null;
  readonly failed_looks: FailedLooks;
  /** Where this service is paid itself. */
  readonly treasuries: { readonly [network in NetworkName]?: string };
  /** Where webhooks may point: to this machine under test alone. */
  readonly webhook_reach: WebhookReach;
  /** Null where no third-party router is configured. */
  readonly router_look_ups: RouterLookUps | null;
  readonly reports: Reports;
  readonly jobPaidBy: JobPaidBy;
  /** In EIP-55 spelling; null where there is no such agent. */
  walletOfAgent(agent_id: AgentId): Promise<string | null>;
}
