import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { type Service, sharedService } from '../../../harness/doors/open-service.ts';
import { atEnd } from '../../../harness/release.ts';
import { clearScratch, makeScratch } from '../../../harness/scratch.ts';

/*
 * The official conformance suite for the service's /mcp. Only scenarios that need no particular tool are run; each of the others calls
 * tools, resources or prompts of the suite's example server by name.
 */

const SUITE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js');
/** Scenarios with the number of their checks, so that a check which was skipped does not count as successful. */
const scenarios: readonly [string, number][] = [
  ['server-initialize', 1],
  ['ping', 1],
  ['tools-list', 1],
  ['server-sse-multiple-streams', 1],
  ['dns-rebinding-protection', 2],
];

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

it.each(scenarios)('passes %s of the official conformance suite', async (scenario, checks) => {
  const out = await makeScratch();
  atEnd(() => clearScratch(out));
  const { port } = new URL(service.url);
  const args = ['server', '--url', `http://localhost:${port}/mcp`, '--scenario', scenario, '-o', out];
  // The suite's exit code is ignored. Its own record has the result of each check.
  await promisify(execFile)(process.execPath, [SUITE, ...args], { cwd: out, timeout: 60_000 }).catch(() => {});
  const [folder = ''] = await readdir(out);
  const found = JSON.parse(await readFile(join(out, folder, 'checks.json'), 'utf8')) as { status: string }[];
  const verdicts = found.map(({ status }) => status).filter(status => status !== 'INFO');
  expect(verdicts).toEqual(Array.from({ length: checks }, () => 'SUCCESS'));
});
