import { join } from 'node:path';
import { heldAgainst } from '../../subgraphs/book/heads/gone-back.ts';
import { SavedHeads, UnreadableHeads } from '../../subgraphs/book/heads/saved-heads.ts';
import { allHeads } from '../../subgraphs/book/heads/stand.ts';
import { iso, systemClock } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import { anybodyServes } from '../../subgraphs/receipt/claim/lease.ts';
import { restoreHistories } from '../../subgraphs/receipt/issuer/record.ts';
import { openIssuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { proveHeads } from '../../subgraphs/receipt/log/anchored-head.ts';
import type { Damage } from '../../subgraphs/receipt/log/audit.ts';
import { auditStored } from '../../subgraphs/receipt/log/audit-stored.ts';
import { credentialsEndedAtMs, declareBreak, headToContinue, isNewLoss } from '../../subgraphs/receipt/log/break.ts';
import { allBroken, booksSentence, brokenBooks } from '../../subgraphs/receipt/log/broken-books.ts';
import { type LogIntegrity, proveLogIntact } from '../../subgraphs/receipt/log/prove-intact.ts';
import { type SavedHead, savedHead, UnreadableHead } from '../../subgraphs/receipt/log/saved-head.ts';
import { type SignedTreeHead, type TreeHeadFacts } from '../../subgraphs/receipt/log/tree-head.ts';
import { OperatorFault } from '../config/fault.ts';
import { readConfig } from '../config/read-config.ts';
import { anchoredSentence } from '../log/anchor/anchored-heads.ts';
import { HEADS_MAX_AT_START } from '../log/anchor/anchoring.ts';
import { type Anchors, openAnchors } from '../log/anchor/open-anchors.ts';
import { endCredentials } from '../log/end-credentials.ts';
import { bookHeadsPath } from '../log/open-log.ts';
import { findServices } from '../operations/find-services.ts';
import { run } from '../operations/run.ts';
import { openOwnStore } from '../own-store.ts';
import type { BaseChain } from '../rails/base/chain.ts';
import { openBase } from '../rails/base/open-base.ts';

/*
 * `npm run accept-log-break -- "REASON"`: the one way on from a log that is shorter or other than what was signed, or of
 * which nobody knows what was signed. It declares the break, signed and published at /.well-known/log-breaks.json, and
 * lets the service start again. All sessions, tokens and grants end with it, but where all that was lost is of before they ended last: the
 * same break is accepted once for each DATA_DIR. What it declares damaged is passed over from then on, hash by hash, and nothing else.
 */
const USAGE = `usage: npm run accept-log-break -- "REASON"

Declares, signed and in public, that the log or books are not as they were committed before, and lets the service start again.
All book sessions, slice tokens, delegated sessions, open approval requests and published exports end, unless an earlier declaration
has ended them for the same loss. Owners recover with their wallets.
Say why:
npm run accept-log-break -- "restored the backup of 2 May after a disk failure"`;

const [reason, ...more] = process.argv.slice(2);
if (reason === '--help') {
  console.log(USAGE);
  process.exit(0);
}
// What begins with two dashes was meant for this command, and would be published as its reason.
// A reason without its quotation marks comes word by word, and only the first would be published.
if (!reason?.trim() || reason.startsWith('--') || more.length > 0) {
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
  readonly saved: SignedTreeHead | null;
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

/** By what this folder knows, and by what a process has halted the log for. */
async function booksThatWentBack(database: Database, saved_books: SavedHeads, integrity: LogIntegrity) {
  const halted = integrity.kind === 'halted' ? (integrity.halt.books ?? null) : null;
  try {
    const { gone_back, lost: credentials } = await heldAgainst(database, (await saved_books.read()) ?? []);
    const lost = [...gone_back.map(({ known }) => known.at), ...credentials.map(({ at }) => at)];
    return { books: allBroken(brokenBooks(gone_back, credentials.length), halted), lost, books_readable: true };
  } catch (fault) {
    if (!(fault instanceof UnreadableHeads)) throw fault;
    console.error(fault.message);
    return { books: halted, lost: [], books_readable: false };
  }
}

/** Long enough for a search through years of blocks. */
const SEARCH_MS_MAX = 300_000;

/**
 * What stands on Base of the log: what was signed, where the head outside the database is lost. A break that does not name
 * it lets none of it pass: the next start refuses again. `contradicted` is when the head was mined that the log does not extend.
 */
async function findAnchored(anchors: Anchors | null, chain: Pick<BaseChain, 'block'>) {
  if (!anchors) return { anchored: null, contradicted: [] };
  const { heads, key } = anchors;
  console.error(await anchoredSentence(heads, key.address, performance.now() + SEARCH_MS_MAX));
  const proven = await proveHeads(anchors.database, heads.binding(HEADS_MAX_AT_START));
  if (proven.kind === 'extended') return { anchored: heads.declared(), contradicted: [] };
  const mined = await chain.block(proven.head.block_number);
  const seconds = mined.kind === 'ok' ? (mined.value?.timestamp_seconds ?? null) : null;
  return { anchored: heads.declared(), contradicted: [seconds === null ? null : iso(seconds * 1_000)] };
}

/** When what the log has lost was signed, by the head that this folder knows; empty where it has lost nothing. */
function lostOfLog({ kind, found }: LogIntegrity, saved: SignedTreeHead | null): readonly (string | null)[] {
  switch (kind) {
    case 'intact':
      return [];
    case 'shrunken':
    case 'rewritten':
      return [saved?.at ?? null];
    case 'unsaved':
      return found.tree_size === 0 ? [] : [null];
    case 'halted':
    case 'contradictory':
      return [null];
  }
}

await run(async () => {
  const services = await findServices(readConfig(), { announce: false });
  const { config } = services;
  const { database, log_origin } = await openOwnStore(config, console);
  const chain = openBase({ rpc_url: config.base_rpc_url });
  const issuer = openIssuer(config.issuer_keys, { base_url: config.base_url, log_origin, now_ms: systemClock.now_ms });
  const anchors = openAnchors(config, { database, chain, issuer });
  try {
    const put_back = await restoreHistories(database, config.data_dir);
    if (put_back !== null) console.log(put_back);
    const saved_head = savedHead(join(config.data_dir, 'log-head.json'));
    const { saved, readable } = await readHead(saved_head);
    const integrity = await proveLogIntact(database, saved);
    const { kind, found } = integrity;
    const { anchored, contradicted } = await findAnchored(anchors, chain);
    const damage = await damageOf(database, found.tree_size);
    const saved_books = new SavedHeads(bookHeadsPath(config.data_dir));
    const { books, lost: lost_of_books, books_readable } = await booksThatWentBack(database, saved_books, integrity);
    if (books) console.error(booksSentence(books));
    const lost = [
      ...lostOfLog(integrity, saved),
      ...lost_of_books,
      ...contradicted,
      ...damage.map(() => null),
      // Processes at work have proven the log by files of their own.
      ...((readable && books_readable) || (await anybodyServes(database)) ? [] : [null]),
    ];
    const sound = kind === 'intact' || (kind === 'unsaved' && found.tree_size === 0);
    if (sound && readable && books_readable && lost.length === 0) {
      console.log('The log is not broken: nothing was declared.');
    } else {
      const head = await headToContinue(database, found);
      const declared_at = iso(systemClock.now_ms());
      const signed = signedBefore(saved, integrity);
      const declared = { saved: signed, found, anchored, damage, books, reason, declared_at };
      const is_new = isNewLoss(lost, await credentialsEndedAtMs(database));
      console.log(await declareBreak(database, issuer, declared, is_new ? endCredentials : null));
      if (!is_new)
        console.error(
          'Sessions and tokens remain valid: everything that was lost is older than the last time they were all ended.',
        );
      await saved_head.restart(head);
      await saved_books.restart(() => allHeads(database));
    }
  } finally {
    await Promise.all([anchors?.close(), chain.close(), database.close()]);
    await services.stop();
  }
});
