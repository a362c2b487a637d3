import { join } from 'node:path';
import { iso, systemClock } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import { restoreHistories } from '../../subgraphs/receipt/issuer/record.ts';
import { openIssuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { proveHeads } from '../../subgraphs/receipt/log/anchored-head.ts';
import { type Damage } from '../../subgraphs/receipt/log/audit.ts';
import { auditStored } from '../../subgraphs/receipt/log/audit-stored.ts';
import { declareBreak, headToContinue } from '../../subgraphs/receipt/log/break.ts';
import { type LogIntegrity, proveLogIntact } from '../../subgraphs/receipt/log/prove-intact.ts';
import { type SavedHead, savedHead, UnreadableHead } from '../../subgraphs/receipt/log/saved-head.ts';
import { type TreeHeadFacts } from '../../subgraphs/receipt/log/tree-head.ts';
import { OperatorFault } from '../config/fault.ts';
import { readConfig } from '../config/read-config.ts';
import { anchoredSentence } from '../log/anchor/anchored-heads.ts';
import { HEADS_MAX_AT_START } from '../log/anchor/anchoring.ts';
import { type Anchors, openAnchors } from '../log/anchor/open-anchors.ts';
import { findServices } from '../operations/find-services.ts';
import { run } from '../operations/run.ts';
import { openStore } from '../parts.ts';
import { openBase } from '../rails/base/open-base.ts';

/*
 * `npm run accept-log-break -- "REASON"`: the one way on from a log that is shorter or other than what was signed, or of
 * which nobody knows what was signed. It declares the break, signed and published at /.well-known/log-breaks.json, and
 * lets the service start again. What it declares damaged is passed over from then on, hash by hash, and nothing else.
 */
const USAGE = `usage: npm run accept-log-break -- "REASON"

Declares, signed and in public, that the log is not the one that was signed before, and lets the service start again. Say why:
npm run accept-log-break -- "restored the backup of 2 May after a disk failure"`;

const [reason] = process.argv.slice(2);
if (reason === '--help') {
  console.log(USAGE);
  process.exit(0);
}
// What begins with two dashes was meant for this command, and would be published as its reason.
if (!reason?.trim() || reason.startsWith('--')) {
  console.error(USAGE);
  process.exit(2);
}

/** More than one can look at is no damage to be passed over, but another log. */
const DAMAGE_MAX = 1_000;

async function damageOf(database: Database, tree_size: number): Promise<Damage[]> {
  const all: Damage[] = [];
  for await (const { damage } of auditStored(database, 0, tree_size)) {
    all.push(...damage);
    if (all.length > DAMAGE_MAX)
      throw new OperatorFault(`more than ${DAMAGE_MAX} places are damaged: restore a database`);
  }
  return all;
}

/** A process that halted the log may have known more of it than this folder does. */
function signedBefore(saved: TreeHeadFacts | null, integrity: LogIntegrity): TreeHeadFacts | null {
  if (integrity.kind !== 'halted') return saved;
  const known = { log_id: integrity.found.log_id, ...integrity.halt.known };
  return saved !== null && saved.tree_size > known.tree_size ? saved : known;
}

interface ReadHead {
  /** Null where it is lost or cannot be read: then nobody can say what was signed. */
  readonly saved: TreeHeadFacts | null;
  readonly readable: boolean;
}

async function readHead(saved_head: SavedHead): Promise<ReadHead> {
  try {
    return { saved: await saved_head.read(), readable: true };
  } catch (fault) {
    if (!(fault instanceof UnreadableHead)) throw fault;
    console.error(fault.message);
    return { saved: null, readable: false };
  }
}

/** Long enough for a search through years of blocks. */
const SEARCH_MS_MAX = 300_000;

/**
 * What stands on Base of the log: what was signed, where the head outside the database is lost. A break that does not name
 * it lets none of it pass: the next start refuses again.
 */
async function findAnchored(anchors: Anchors | null) {
  if (!anchors) return { anchored: null, contradicted: false };
  const { heads, key } = anchors;
  console.error(await anchoredSentence(heads, key.address, performance.now() + SEARCH_MS_MAX));
  const { kind } = await proveHeads(anchors.database, heads.binding(HEADS_MAX_AT_START));
  return { anchored: heads.declared(), contradicted: kind === 'broken' };
}

await run(async () => {
  const services = await findServices(readConfig(), { announce: false });
  const { config } = services;
  const database = await openStore(config.database_url);
  const chain = openBase({ rpc_url: config.base_rpc_url });
  const issuer = openIssuer(config.issuer_keys, { base_url: config.base_url, now_ms: systemClock.now_ms });
  const anchors = openAnchors(config, { database, chain, issuer });
  try {
    const put_back = await restoreHistories(database, config.data_dir);
    if (put_back !== null) console.log(put_back);
    const saved_head = savedHead(join(config.data_dir, 'log-head.json'));
    const { saved, readable } = await readHead(saved_head);
    const integrity = await proveLogIntact(database, saved);
    const { kind, found } = integrity;
    const { anchored, contradicted } = await findAnchored(anchors);
    const damage = await damageOf(database, found.tree_size);
    const sound = !contradicted && (kind === 'intact' || (kind === 'unsaved' && found.tree_size === 0));
    if (readable && sound && damage.length === 0) {
      console.log('The log is not broken: nothing was declared.');
    } else {
      const head = await headToContinue(database, found);
      const declared_at = iso(systemClock.now_ms());
      const signed = signedBefore(saved, integrity);
      console.log(
        await declareBreak(database, issuer, { saved: signed, found, anchored, damage, reason, declared_at }),
      );
      await saved_head.restart(head);
    }
  } finally {
    await Promise.all([anchors?.close(), chain.close(), database.close()]);
    await services.stop();
  }
});
