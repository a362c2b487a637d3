import { join } from 'node:path';
import { compareSavedHeads } from '../../subgraphs/book/heads/rollback.ts';
import { SavedHeads, UnreadableHeads } from '../../subgraphs/book/heads/saved-heads.ts';
import { allHeads } from '../../subgraphs/book/heads/stand.ts';
import { iso, systemClock } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import { anybodyServes } from '../../subgraphs/receipt/claim/lease.ts';
import { restoreHistories } from '../../subgraphs/receipt/issuer/record.ts';
import { openIssuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { proveHeads } from '../../subgraphs/receipt/log/anchored-head.ts';
import type { Damage } from '../../subgraphs/receipt/log/audit.ts';
import { auditStored } from '../../subgraphs/receipt/log/audit-database.ts';
import { credentialsEndedAtMs, declareBreak, headToContinue, isNewLoss } from '../../subgraphs/receipt/log/break.ts';
import { allBroken, booksSentence, brokenBooks } from '../../subgraphs/receipt/log/broken-books.ts';
import { UnreadableHead } from '../../subgraphs/receipt/log/head-slots.ts';
import { type LogIntegrity, proveAllIntact } from '../../subgraphs/receipt/log/prove-intact.ts';
import { type SavedHead, savedHead } from '../../subgraphs/receipt/log/saved-head.ts';
import { type SignedTreeHead, type TreeHeadFacts } from '../../subgraphs/receipt/log/tree-head.ts';
import { OperatorFault, UsageFault } from '../config/fault.ts';
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
 * `npm run accept-log-break -- "REASON"`: the only way to continue with a log that differs from what was signed, or whose signed
 * tree head is lost. It signs a declaration of the break, publishes it at /.well-known/log-breaks.json, and lets the service start
 * again. All sessions, tokens and grants end, unless an earlier declaration ended them after the loss: the command is run once for
 * each DATA_DIR. Entries that it declares damaged are skipped from then on, each by its hash.
 */
const USAGE = `usage: npm run accept-log-break -- "REASON"

Publishes a signed declaration that entries of the log or of books were lost or altered, and lets the service start again. REASON is
published. All book sessions, slice tokens, delegated sessions, open approval requests and published exports end, unless an earlier
declaration ended them for the same loss; owners get access again with their wallets. Run it once for each DATA_DIR.

Example: npm run accept-log-break -- "restored the backup of 2 May after a disk failure"`;

const [reason, ...more] = process.argv.slice(2);
if (reason === '--help') {
  console.log(USAGE);
  process.exit(0);
}

/** Maximum number of damaged hashes. More than a person can check is not damage to skip but a different log. */
const DAMAGE_MAX = 1_000;

async function damageOf(database: Database, tree_size: number): Promise<Damage[]> {
  const all: Damage[] = [];
  for await (const { damage } of auditStored(database, 0, tree_size)) {
    all.push(...damage);
    if (all.length > DAMAGE_MAX)
      throw new OperatorFault(
        `more than ${DAMAGE_MAX} hashes of the log are damaged; restore the database from a backup. Nothing was declared`,
      );
  }
  return all;
}

/**
 * The newest tree head that was signed. The head because of which a process halted the log may be newer than the one in this
 * DATA_DIR.
 */
function signedBefore(saved: TreeHeadFacts | null, integrity: LogIntegrity): TreeHeadFacts | null {
  if (integrity.kind !== 'halted') return saved;
  const known = { log_id: integrity.found.log_id, ...integrity.halt.known };
  return saved !== null && saved.tree_size > known.tree_size ? saved : known;
}

interface ReadHeads {
  /** None if they are lost or cannot be read: then it is unknown what was signed. */
  readonly heads: readonly SignedTreeHead[];
  readonly readable: boolean;
}

async function readHeads(saved_head: SavedHead): Promise<ReadHeads> {
  try {
    return { heads: await saved_head.readAll(), readable: true };
  } catch (fault) {
    if (!(fault instanceof UnreadableHead)) throw fault;
    console.error(fault.message);
    return { heads: [], readable: false };
  }
}

/**
 * Books with fewer events than in the tree heads of this DATA_DIR, or than in those because of which a process has halted the log.
 */
async function booksThatWentBack(database: Database, saved_books: SavedHeads, integrity: LogIntegrity) {
  const halted = integrity.kind === 'halted' ? (integrity.halt.books ?? null) : null;
  try {
    const { gone_back, lost: credentials } = await compareSavedHeads(database, (await saved_books.read()) ?? []);
    const lost = [...gone_back.map(({ known }) => known.at), ...credentials.map(({ at }) => at)];
    return { books: allBroken(brokenBooks(gone_back, credentials.length), halted), lost, books_readable: true };
  } catch (fault) {
    if (!(fault instanceof UnreadableHeads)) throw fault;
    console.error(fault.message);
    return { books: halted, lost: [], books_readable: false };
  }
}

/** Time limit, long enough for a search through years of blocks. */
const SEARCH_MS_MAX = 300_000;

/**
 * The log's tree heads that are anchored on Base. The declaration has to name one that the log does not extend, or the next start
 * refuses again. `contradicted` is the time at which such a head was mined.
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

/**
 * Time at which the lost part of the log was signed, according to the tree head in this DATA_DIR. Empty if no part is lost; null if
 * the time is unknown.
 */
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

async function acceptBreak(): Promise<void> {
  // If this were not checked, a mistyped option, or the first word of a reason without quotation marks, would be published as the reason.
  if (!reason?.trim() || reason.startsWith('--') || more.length > 0) throw new UsageFault();
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
    const { heads, readable } = await readHeads(saved_head);
    const { saved, integrity } = await proveAllIntact(database, heads);
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
      // A running process has already proven the log by the files of its DATA_DIR.
      ...((readable && books_readable) || (await anybodyServes(database)) ? [] : [null]),
    ];
    const sound = kind === 'intact' || (kind === 'unsaved' && found.tree_size === 0);
    if (sound && readable && books_readable && lost.length === 0) {
      console.log('The log is intact. Nothing was declared.');
    } else {
      const head = await headToContinue(database, found);
      const declared_at = iso(systemClock.now_ms());
      const signed = signedBefore(saved, integrity);
      const declared = { saved: signed, found, anchored, damage, books, reason, declared_at };
      const is_new = isNewLoss(lost, await credentialsEndedAtMs(database));
      console.log(await declareBreak(database, issuer, declared, is_new ? endCredentials : null));
      if (!is_new)
        console.error(
          'Sessions and tokens stay valid, because an earlier declaration already ended all that existed at this loss.',
        );
      await saved_head.restart(head);
      await saved_books.restart(() => allHeads(database));
    }
  } finally {
    await Promise.all([anchors?.close(), chain.close(), database.close()]);
    await services.stop();
  }
}

await run(acceptBreak, { usage: USAGE });
