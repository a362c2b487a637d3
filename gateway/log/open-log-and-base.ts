import type { Database } from '../../subgraphs/database.ts';
import { type Issuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { type HeadName } from '../../subgraphs/receipt/log/tree-head.ts';
import type { Config } from '../config/read-config.ts';
import type { Operations } from '../operations/open.ts';
import { openBase } from '../rails/base/open-base.ts';
import { anchoredSentence } from './anchor/anchored-heads.ts';
import { Anchoring, SEARCH_MS_MAX } from './anchor/anchoring.ts';
import { type Anchors, openAnchors } from './anchor/open-anchors.ts';
import { BaseStart } from './believe-base.ts';
import { type LogOptions, type OpenedLog, openLog } from './open-log.ts';

interface LogAndBaseParts extends Pick<LogOptions, 'audit_leaves' | 'faults' | 'logger'> {
  readonly database: Database;
  readonly openChain: typeof openBase;
  readonly issuer: Issuer;
  readonly operations: Operations;
  readonly closing: AsyncDisposableStack;
  /** This process, as its lease names it. */
  readonly owner: string;
}

export interface LogAndBase {
  readonly log: OpenedLog;
  readonly base: BaseStart;
}

/** Proves the log by the saved head; by the heads on Base it is proven once `base` begins. */
export async function openLogAndBase(config: Config, parts: LogAndBaseParts): Promise<LogAndBase> {
  const { audit_leaves, closing, database, faults = null, issuer, logger, openChain, operations, owner } = parts;
  const chain = closing.adopt(openChain({ rpc_url: config.base_rpc_url }), it => it.close());
  // On another than the one behind BASE_RPC_URL nothing can be anchored.
  const anchors = openChain === openBase ? openAnchors(config, { database, chain, issuer }) : null;
  if (anchors) closing.adopt(anchors, it => it.close());
  const options = { data_dir: config.data_dir, faults, issuer, logger, audit_leaves };
  const log = await openLog(database, options).catch(fault => withAnchored(fault, anchors));
  closing.adopt(log, it => it.stop());
  const { standing } = log;

  const ended = (outcome: 'done' | 'failed') => operations.roundEnded('anchor', outcome);
  const contradicted = (head: HeadName) => log.watch.meet(head);
  const anchoring = anchors && new Anchoring({ ...anchors, log: standing, logger, ended, contradicted });
  const { profile } = config;
  const start = new BaseStart({ database, chain, anchoring, log: standing, profile, logger, owner });
  const base = closing.adopt(start, it => it.stop());
  return { log, base };
}

/** Where the head outside the database is lost, the anchored one is the last that is known of what was signed. */
async function withAnchored(fault: unknown, anchors: Anchors | null): Promise<never> {
  if (!anchors || !(fault instanceof Error) || fault.name !== 'BrokenLog') throw fault;
  const { heads, key } = anchors;
  const sentence = await anchoredSentence(heads, key.address, performance.now() + SEARCH_MS_MAX);
  throw Object.assign(new Error(`${fault.message} (${sentence})`, { cause: fault }), { name: fault.name });
}
