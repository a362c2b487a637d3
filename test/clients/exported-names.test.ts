import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { writeClientModules } from '../../gateway/development/client-modules.ts';
import manifest from '../../package.json' with { type: 'json' };
import { type ExportedNames, exportedNames } from '../harness/exported-names.ts';
import { ROOT } from '../harness/root.ts';
import { ownFolder } from '../harness/scratch.ts';

/*
 * Programs of callers use these names, so that none of them may be renamed with the rest of the source. What is new is added here; what
 * is renamed, removed or no longer optional breaks those programs.
 */

/** The exports of each module that package.json names. */
const exported: Readonly<Record<keyof typeof manifest.exports, ExportedNames>> = {
  './client': { values: ['PaymentPending', 'payingFetch'], types: ['Buyer', 'PaymentPending'] },
  './client/pay-legs': { values: ['BeyondLimit', 'payLegs'], types: ['BeyondLimit', 'LegsBuyer'] },
  './client/register-agent': {
    values: ['RegistrationRefused', 'registerAgent'],
    types: ['RegisteredAgent', 'RegisteringWallet', 'Registration', 'RegistrationRefused'],
  },
  './client/book-follower': {
    values: ['createBookFollower'],
    types: [
      'BookCursor',
      'BookEnd',
      'BookFollower',
      'BookTransport',
      'EventStore',
      'FollowedBook',
      'FollowedEvent',
      'FollowerOptions',
    ],
  },
  './client/book-socket': { values: ['bookSocket'], types: [] },
  './verify': {
    values: ['keysNamed', 'undecided', 'verify', 'verifyPlace'],
    types: ['HeldCheck', 'VerifiedDocument', 'VerifiedFault', 'VerifiedPlace'],
  },
};

/** Members and literals of each of them, in the order of their declarations. */
const members: Readonly<Record<string, string>> = {
  Buyer: 'payments createPaymentPayload signText? fetch? patience_ms_max? kept? request header valid_before',
  PaymentPending:
    'name problem code? detail? charged? payer_proof? text value request header valid_before payment toJSON',
  LegsBuyer: 'amount_atomic_max payees',
  BeyondLimit: 'name',
  Registration: 'pay url wallet at_seconds?',
  RegisteringWallet: 'address signMessage message',
  RegisteredAgent: 'agent_id session',
  RegistrationRefused: 'name status code charged code? detail? charged? payer_proof? text value',
  BookTransport: 'url fetch? row?',
  FollowedBook: 'agent_id session',
  BookCursor: 'position hash',
  FollowedEvent: 'agent_id position kind seq task_id body at prev_hash hash row',
  EventStore: 'load apply',
  FollowerOptions: 'url fetch? row? books store over? on_trouble? agent_id fault again_in_ms on_end?',
  BookEnd: 'agent_id cursor kind closed kind refused code why kind unproven why gap altered unchained event',
  BookFollower: 'ended close',
  verify: 'base_url? histories?',
  verifyPlace: 'log_keys witnesses?',
  HeldCheck: 'sentence',
  VerifiedDocument: [
    'kind receipt refusal export receipt_audit refusal_audit inflow verdict reconciliation totals issuer_history',
    'receipt_policy_history revocations ingest_record allowance audit_pack export_coverage log_break log_breaks tree_head',
    'agent_card offer delivery session_grant session_act session_revocation wallet_text webhook_message unsigned',
    'valid checks fault claims report unsigned lane unknown broken unchecked',
  ].join(' '),
  VerifiedFault: 'code sentence',
  VerifiedPlace: 'valid checks fault leaf_index tree_size',
};

let folder: string;
let found: ReturnType<typeof exportedNames>;
const modules = Object.entries(manifest.exports);
/** What package.json calls `./dist/…`, in that folder. */
const inFolder = (path: string) => path.replace('./dist/', '');

beforeAll(async () => {
  folder = await ownFolder();
  await writeClientModules(folder);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const files = modules.map(([, { types }]) => inFolder(types));
  found = exportedNames(folder, files);
});

it('each module exports the same names as before, by its types and as Node and browsers load it', async () => {
  const named = modules.map(([entry, { types }]) => [entry, found.exported[inFolder(types)]]);
  expect(Object.fromEntries(named)).toEqual(exported);
  const builds = modules.flatMap(([entry, { types: _, ...files }]) =>
    Object.values(files).map(file => ({ entry, file: inFolder(file) })),
  );
  const loaded = await Promise.all(
    builds.map(async ({ entry, file }) => {
      const module: object = await import(pathToFileURL(join(folder, file)).href);
      return [file, { entry, values: Object.keys(module).sort() }] as const;
    }),
  );
  for (const [file, { entry, values }] of loaded)
    expect({ file, values }).toEqual({ file, values: exported[entry as keyof typeof exported].values });
});

it('what these modules take and return has the same members as before', () => {
  const named = Object.entries(found.members).map(([name, all]) => [name, all.join(' ')]);
  expect(Object.fromEntries(named)).toEqual(members);
});
