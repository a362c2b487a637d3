import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeSupergraph } from '../../gateway/graph/compose.ts';
import { subgraphs } from '../../gateway/parts.ts';
import { schemasOf } from '../../rest-compat/door-schemas.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { llms } from '../../rest-compat/faces/llms.ts';
import { doorTools } from '../../rest-compat/faces/mcp/tool.ts';
import { defaultListing, selectTools } from '../../rest-compat/faces/mcp/tool-sets.ts';
import { openApi } from '../../rest-compat/faces/openapi.ts';
import { x402Manifest } from '../../rest-compat/faces/x402-manifest.ts';
import { problem } from '../../rest-compat/problem.ts';
import type { Json } from '../../schema/canonical-json.ts';
import { type ErrorCode, errors } from '../../schema/errors.ts';
import { FakePort } from '../harness/rest-compat/fake-port.ts';
import { differencesOf } from './differences.ts';
import { operations } from './operations.ts';
import { requests } from './requests.ts';
import { type SplitDescription, splitJson, splitSdl } from './shapes.ts';

/*
 * `npm run compare -- record FOLDER` writes down what the service shows and accepts. `npm run compare -- record-running FOLDER` writes down
 * what it signs, seals and sends. `npm run compare -- diff FOLDER FOLDER` exits with 1 if two such folders differ in more than
 * descriptions. README.md says what is compared.
 */

const WORDS = '.descriptions.json';
const REQUESTS = 'requests.jsonl';
const DIFFERENCES_SHOWN = 60;

const [command, one, other] = process.argv.slice(2);
if (command === 'record' && one) await record(one);
else if (command === 'record-running' && one) await (await import('./running/record.ts')).recordRunning(one);
else if (command === 'diff' && one && other) process.exitCode = diff(one, other) ? 1 : 0;
else {
  console.error('npm run compare -- record FOLDER, record-running FOLDER, or diff FOLDER FOLDER');
  process.exitCode = 2;
}

async function record(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const json = (value: unknown) => `${JSON.stringify(value, null, 1)}\n`;
  const part = (name: string, extension: string, { shape, words }: SplitDescription<Json>) => {
    write(`${name}.${extension}`, typeof shape === 'string' ? shape : json(shape));
    write(`${name}${WORDS}`, json(words));
  };
  const port = new FakePort();
  const tools = [...doorTools(everyDoor).values()];
  part('openapi', 'json', splitJson(openApi(everyDoor, port.base_url)));
  part('tools-list', 'json', splitJson(tools.map(tool => tool.entry('full'))));
  part('tools-list-short', 'json', splitJson(tools.map(tool => tool.entry('short'))));
  part('tools-list-usual', 'json', splitJson(selectTools(tools, defaultListing).map(({ name }) => name)));
  part('x402-manifest', 'json', splitJson(x402Manifest(everyDoor, port)));
  part(
    '402-schemas',
    'json',
    splitJson(Object.fromEntries(everyDoor.map(door => [door.name, schemasOf(door).in_short]))),
  );
  write('llms.txt', llms(everyDoor, port.base_url));
  write('operations.graphql', operations());
  write('refusals.json', json(Object.keys(errors).map(code => problem({ code: code as ErrorCode }))));
  const all = await subgraphs();
  for (const { name, sdl } of all) part(name, 'graphql', splitSdl(sdl));
  part('supergraph', 'graphql', splitSdl(composeSupergraph(all)));
  const lines = createWriteStream(join(folder, REQUESTS));
  let count = 0;
  for await (const comes of requests(all)) {
    count++;
    if (!lines.write(`${JSON.stringify(comes)}\n`)) await once(lines, 'drain');
  }
  lines.end();
  await once(lines, 'finish');
  console.log(`${count} requests of the corpus, and ${readdirSync(folder).length} files in ${folder}`);
}

/** Prints the differences. Returns whether anything but descriptions differs. */
function diff(before: string, after: string): boolean {
  const names = [...new Set([...readdirSync(before), ...readdirSync(after)])].sort();
  const differing = names.filter(name => textOf(before, name) !== textOf(after, name));
  for (const name of differing) {
    if (name.endsWith('.jsonl')) showLines(name, before, after);
    else show(name, before, after);
  }
  const changed = differing.filter(name => !name.endsWith(WORDS));
  console.log(
    changed.length > 0
      ? `Different: ${changed.join(', ')}`
      : `The same, in ${names.length} files, but for descriptions.`,
  );
  return changed.length > 0;
}

function textOf(folder: string, name: string): string {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch {
    return '';
  }
}

function show(name: string, before: string, after: string): void {
  try {
    execFileSync('git', ['diff', '--no-index', '-U2', join(before, name), join(after, name)], {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    });
  } catch (differing) {
    const lines = String((differing as { stdout?: string }).stdout ?? differing).split('\n');
    const changes = lines.filter(line => /^[+-](?![+-])/.test(line)).length;
    console.log(`${name}: ${changes} lines`);
    console.log(`${lines.slice(0, DIFFERENCES_SHOWN).join('\n')}\n`);
  }
}

/** Prints the members in which lines of the same `at` differ. */
function showLines(name: string, before: string, after: string): void {
  const [first, second] = [linesOf(before, name), linesOf(after, name)];
  const differing = [...new Set([...first.keys(), ...second.keys()])].filter(at => first.get(at) !== second.get(at));
  console.log(`${name}: ${differing.length} of ${first.size} come to something else`);
  for (const at of differing.slice(0, DIFFERENCES_SHOWN)) {
    console.log(at);
    const [one, other] = [first.get(at), second.get(at)].map(line => line && (JSON.parse(line) as { to: Json }).to);
    for (const difference of differencesOf(one, other)) console.log(`  ${difference}`);
  }
}

function linesOf(folder: string, name: string): ReadonlyMap<string, string> {
  const lines = textOf(folder, name)
    .split('\n')
    .filter(line => line !== '');
  return new Map(lines.map(line => [(JSON.parse(line) as { at: string }).at, line]));
}
