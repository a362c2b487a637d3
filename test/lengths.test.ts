import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { ROOT } from './harness/root.ts';

/** Lines that most keep to (`usual`), that hardly any exceeds (`rare`: above it each has a reason here), and that none may. */
const marks = {
  file: { median: 80, usual_share: 0.95, rare: 240, most: 300 },
  function: { median: 12, usual_share: 0.95, rare: 45, most: 70 },
};

/** Above the mark, and why it reads better whole. One that has become shorter leaves the list. */
const exceptions: Readonly<Record<string, string>> = {
  'subgraphs/receipt/claim/claim.ts': 'the claim is one statement, and each of its outcomes is named beside it',
  'subgraphs/receipt/claim/transitions.ts': 'every transition of a claim, and the one lock order that all of them keep',
  'schema/book-row.ts': 'one table of what a row says: whoever adds a fact adds it here and nowhere else',
  'schema/limits.ts': 'one table of limits, each with its reason: whoever looks for one finds all',
  'gateway/open.ts openGateway': 'the composition root: what is opened, in the order in which it is closed again',
  'gateway/reconcile/heartbeat.ts openHeartbeat': 'one timer and the four states of one lease, closed over together',
  'subgraphs/database.ts openDatabase': 'the one place in which connections of every kind are made',
};

interface Measured {
  readonly name: string;
  readonly lines: number;
}

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
  cwd: ROOT,
  encoding: 'utf8',
});
const texts = listed
  .split('\n')
  .filter(Boolean)
  .map(file => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));
const sources = texts.filter(({ file }) => !file.startsWith('test/'));

function fileLength({ file, text }: { file: string; text: string }): Measured {
  return { name: file, lines: text.split('\n').length - 1 };
}

/** Everything with a body, those inside others too; a description of a test is none of them. */
function functionLengths({ file, text }: { file: string; text: string }): Measured[] {
  const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lineAt = (position: number) => parsed.getLineAndCharacterOfPosition(position).line;
  const found: Measured[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const name = node.name?.getText(parsed) ?? `(line ${lineAt(node.getStart(parsed)) + 1})`;
      found.push({ name: `${file} ${name}`, lines: lineAt(node.end) - lineAt(node.getStart(parsed)) + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return found;
}

function quantile(measured: readonly Measured[], share: number): number {
  const sorted = measured.map(({ lines }) => lines).sort((one, other) => one - other);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
}

const above = (measured: readonly Measured[], mark: number) =>
  measured.filter(({ lines }) => lines > mark).map(({ name, lines }) => `${name}: ${lines}`);

describe.each([
  ['file', sources.map(fileLength)],
  ['function', sources.flatMap(functionLengths)],
] as const)('the length of a %s', (kind, measured) => {
  const { median, usual_share, rare, most } = marks[kind];

  it('is short as a rule', () => {
    expect(measured.length).toBeGreaterThan(0);
    expect(quantile(measured, 0.5)).toBeLessThanOrEqual(median);
    expect(quantile(measured, usual_share)).toBeLessThan(rare);
  });

  it('is above the mark with a reason only', () => {
    const unexplained = measured.filter(({ name }) => !Object.hasOwn(exceptions, name));
    expect(above(unexplained, rare)).toEqual([]);
  });

  it('is never out of all bounds', () => {
    expect(above(measured, most)).toEqual([]);
  });
});

describe('the list of exceptions', () => {
  it('names nothing that needs none any more', () => {
    const long = new Set([
      ...sources
        .map(fileLength)
        .filter(({ lines }) => lines > marks.file.rare)
        .map(({ name }) => name),
      ...sources
        .flatMap(functionLengths)
        .filter(({ lines }) => lines > marks.function.rare)
        .map(({ name }) => name),
    ]);
    expect(Object.keys(exceptions).filter(name => !long.has(name))).toEqual([]);
  });
});

describe('a file of tests', () => {
  it('is never out of all bounds', () => {
    const tests = texts.filter(({ file }) => file.startsWith('test/')).map(fileLength);
    expect(above(tests, marks.file.most)).toEqual([]);
  });
});
