import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import * as operations from '@graphql-codegen/typescript-operations';
import { parse } from 'graphql';
import { beforeAll, expect, it } from 'vitest';
import { openService } from '../harness/doors/open-service.ts';
import { ROOT } from '../harness/root.ts';
import { ownFolder } from '../harness/scratch.ts';

const run = promisify(execFile);

const DOCUMENT = `query Rows($agentId: Int!, $filter: BookRowFilter) {
  book(agentId: $agentId) { agentId cap rows(first: 5, filter: $filter) {
    edges { cursor node { seq evidence collectedAt settledBy receipt { taskId proofOutcome } } } pageInfo { hasNextPage } } } }`;

const WRITES = `mutation Hook($agentId: Int!, $input: WebhookInput!) {
  setWebhook(agentId: $agentId, input: $input) { secretOnce webhook { events lastStatus } } }
mutation Dispute($agentId: Int!, $input: DisputeInput!) {
  fileDispute(agentId: $agentId, input: $input) { filed dispute { outcome reason verdict } } }
mutation Escrow($agentId: Int!, $input: A2aEscrowInput!) {
  openA2aEscrow(agentId: $agentId, input: $input) { state party legal phases { at seq evidence } } }`;

/** What each scalar is on the wire. */
const config = {
  scalars: {
    AtomicAmount: 'string',
    DateTime: 'string',
    JSON: 'unknown',
    JSONObject: 'Record<string, unknown>',
    SafeInt: 'number',
  },
  strictScalars: true,
};

const program = `import type {
  DisputeMutation, EscrowMutation, EscrowMutationVariables, HookMutation, RowsQuery, RowsQueryVariables,
} from './operations.ts';
import type { Mutation, BookRow } from './schema.ts';

export const asked: RowsQueryVariables = { agentId: 1, filter: { evidence: 'collected', from: '2026-01-01T00:00:00Z' } };
export function read({ book }: RowsQuery): string[] {
  if (!book) return [];
  const cap: string | null | undefined = book.cap;
  return [cap ?? 'unlimited', ...book.rows.edges.map(({ node }) => node.collectedAt + (node.receipt?.taskId ?? ''))];
}
export const seqOf = ({ seq }: BookRow): number => seq;
export type Bought = Mutation['createChatCompletion'];
export const secretOf = ({ setWebhook }: HookMutation): string | null | undefined => setWebhook?.secretOnce;
export const verdictOf = ({ fileDispute }: DisputeMutation): [string | null | undefined, unknown] =>
  [fileDispute?.dispute.outcome, fileDispute?.dispute.verdict['signature']];
export const terms: EscrowMutationVariables = {
  agentId: 1, input: { jobSpecHash: '00', amount: '2000', parties: { counterpartyAgentId: 2 } } };
export const isOver = ({ openA2aEscrow }: EscrowMutation): boolean => openA2aEscrow?.state === 'clawed_back';
`;

let folder: string;

/** A project of somebody else's, whose types are made of the schema as the service shows it. */
beforeAll(async () => {
  const [service, own] = await Promise.all([openService({ INTROSPECTION: 'off' }), ownFolder()]);
  folder = own;
  const schema = parse(await (await fetch(`${service.url}/graphql?sdl`)).text());
  const make = async (filename: string, plugin: string) => {
    const plugins = [{ [plugin]: {} }];
    const documents = [{ document: parse(`${DOCUMENT} ${WRITES}`), location: 'operations.graphql' }];
    const pluginMap = { typescript, operations };
    await writeFile(join(folder, filename), await codegen({ filename, schema, documents, config, plugins, pluginMap }));
  };
  await make('schema.ts', 'typescript');
  await make('operations.ts', 'operations');
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
});

async function compile(text: string): Promise<string> {
  await writeFile(join(folder, 'client.ts'), text);
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck'];
  const types = ['--types', 'node', '--allowImportingTsExtensions'];
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  return (await run(tsc, [...options, ...types, 'client.ts'], { cwd: folder }).catch(error => error)).stdout;
}

it('types made of the schema and of a document compile, with what they type', async () => {
  expect(await compile(program)).toBe('');
});

it('and refuse a word that is none of an enum', async () => {
  expect(await compile(program.replace("'collected'", "'stolen'"))).toContain('"stolen"');
});

it('and a book that is taken to be there', async () => {
  expect(await compile(program.replace('  if (!book) return [];\n', ''))).toContain("'book' is possibly");
});
