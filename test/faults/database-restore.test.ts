import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { answerTo, newBuyer } from '../harness/faults/buyer.ts';
import { copyOf } from '../harness/faults/database-copy.ts';
import { type Ground, openGround } from '../harness/faults/ground.ts';
import { publishedBreaks, refusalOf, refusalOfProcess, runOperatorProcess } from '../harness/faults/operator.ts';
import { atEnd } from '../harness/release.ts';
import { clearScratch, makeScratch } from '../harness/scratch.ts';

/** Starts a process, pays for that many calls, and stops it. */
async function callsOn(ground: Ground, count: number, where: { url?: string; data_dir?: string } = {}): Promise<void> {
  const gateway = await ground.start(where);
  const buyer = await newBuyer(ground);
  for (let call = 1; call <= count; call++) {
    expect((await answerTo(gateway, await buyer.chat(`call ${call}`))).status).toBe(200);
  }
  await gateway.stop();
}

it('a database that was restored to an older state, or went on from there, is refused: the log cannot shrink', async () => {
  const ground = await openGround();
  await callsOn(ground, 2);
  const older_root = await savedRoot(ground);
  const older_head = await readFile(ground.saved_head, 'utf8');
  const restored = await copyOf(ground.database_url);
  await callsOn(ground, 2);
  const saved_root = await savedRoot(ground);

  const shrunken = await refusalOfProcess(ground, { url: restored });
  expect(shrunken).toContain('the log is shrunken');
  expect(shrunken).toContain('npm run accept-log-break');
  expect(shrunken).toContain(`size 4, root ${saved_root}`);
  expect(shrunken).toContain(`size 2, root ${older_root}`);

  const elsewhere = await makeScratch();
  atEnd(() => clearScratch(elsewhere));
  const unsaved = await refusalOf(ground, { url: restored, data_dir: elsewhere });
  expect(unsaved).toContain(`the log has no saved head at ${join(elsewhere, 'log-head.json')}`);
  expect(unsaved).toContain(`size 2, root ${older_root}`);
  expect(unsaved).toContain('npm run accept-log-break');
  await writeFile(join(elsewhere, 'log-head.json'), older_head);
  await callsOn(ground, 3, { url: restored, data_dir: elsewhere });
  const rewritten = await refusalOf(ground, { url: restored });
  expect(rewritten).toContain('the log is rewritten');
  expect(rewritten).toContain('npm run accept-log-break');
  expect(rewritten).toContain(`size 4, root ${saved_root}`);

  await callsOn(ground, 1);
  expect(await savedRoot(ground)).not.toBe(saved_root);

  // The only way to continue from the older state is a declaration that is signed and published.
  const reason = 'an older dump was restored';
  expect(await runOperatorProcess(ground, 'accept-log-break', [reason], { url: restored })).toContain(reason);
  const goesOn = await ground.start({ url: restored });
  expect(await publishedBreaks(goesOn)).toMatchObject([{ reason }]);
  await goesOn.stop();
});

async function savedRoot({ saved_head }: Ground): Promise<string> {
  return (JSON.parse(await readFile(saved_head, 'utf8')) as { root_hash: string }).root_hash;
}
