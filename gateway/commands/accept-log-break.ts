import { join } from 'node:path';
import { iso, systemClock } from '../../subgraphs/clock.ts';
import { declareBreak, headToContinue, openIssuer, proveLogIntact, savedHead } from '../../subgraphs/receipt/index.ts';
import { readConfig } from '../config.ts';
import { startDevelopment } from '../development/start.ts';
import { openStore } from '../store.ts';

/*
 * `npm run accept-log-break -- "REASON"`: the one way on from a log that is shorter or other than what was signed. It
 * declares the break, signed and published at /.well-known/log-breaks.json, and lets the service start again.
 */
const [reason] = process.argv.slice(2);
if (!reason?.trim()) {
  console.error('Say why: npm run accept-log-break -- "restored the backup of 2 May after a disk failure"');
  process.exit(2);
}

const development = await startDevelopment(readConfig());
const { config } = development;
const database = await openStore(config.database_url);
try {
  const saved_head = savedHead(join(config.data_dir, 'log-head.json'));
  const saved = await saved_head.read();
  const integrity = await proveLogIntact(database, saved);
  if (integrity.kind === 'intact' || integrity.kind === 'unsaved') {
    console.log('The log is not broken: nothing was declared.');
  } else {
    const head = await headToContinue(database, integrity.found);
    const issuer = openIssuer(config.issuer_keys, { base_url: config.base_url, now_ms: systemClock.now_ms });
    const { saved, found } = integrity;
    console.log(await declareBreak(database, issuer, { saved, found, reason, declared_at: iso(systemClock.now_ms()) }));
    await saved_head.restart(head);
  }
} finally {
  await database.close();
  await development.stop();
}
