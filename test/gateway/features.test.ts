import type { GraphQLSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { everyFeature } from '../../gateway/features/every-feature.ts';
import { type Feature, featureNeeds } from '../../gateway/features/feature.ts';
import { composeSupergraph } from '../../gateway/graph/compose.ts';
import { publicSchema } from '../../gateway/graph/supergraph.ts';
import { openStore, subgraphs, tablesWith } from '../../gateway/parts.ts';
import { doorsWith, everyDoor } from '../../rest-compat/every-door.ts';
import { openApi } from '../../rest-compat/faces/openapi.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { SCITT_STATEMENT } from '../../schema/cose.ts';
import { isOwnTransfer } from '../../subgraphs/receipt/receipt/own-transfer.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { emptyDatabase } from '../harness/before-baselines.ts';
import { ask, openService } from '../harness/doors/open-service.ts';

/* The service without each feature that the specification does not ask for, on a database that has never had its tables. */

const supergraphOf = async (features: readonly Feature[]) => composeSupergraph(await subgraphs(features));
const whole = await supergraphOf(everyFeature);

/** Without one feature, and those that need it. */
function featuresWithout(name: string): readonly Feature[] {
  return everyFeature.filter(feature => ![feature.name, ...featureNeeds[feature.name]].some(it => it === name));
}

const opened = new Map<string, ReturnType<typeof openWith>>();

/** Once for each: to compose a graph and to make its tables takes longer than all that is asked of it. */
function openWithout(name: string) {
  const known = opened.get(name) ?? openWith(featuresWithout(name));
  opened.set(name, known);
  return known;
}

async function openWith(features: readonly Feature[]) {
  const supergraph = await supergraphOf(features);
  const database_url = await emptyDatabase();
  const service = await openService({}, { database_url, features: { features, supergraph } });
  const doors = doorsWith(features.map(feature => feature.name));
  return { features, supergraph, service, doors };
}

function rootFields(schema: GraphQLSchema): readonly string[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  return roots.flatMap(root => Object.keys(root?.getFields() ?? {}));
}

/** How many fields of the roots go with a feature and what needs it. */
const rootFieldsOf = { envelopes: 0, totals: 5, reconciliation: 2, score: 1 } as const;

/** How many tables, likewise. */
const tablesOf = { envelopes: 0, totals: 8, reconciliation: 2, score: 2 } as const;

const namesOfTables = (features: readonly Feature[]) =>
  tablesWith(features).migrations.flatMap(migration => new migration().tables());

const pathsOf = ({ paths }: JsonObject) => Object.keys(paths as JsonObject);

describe.each(everyFeature.map(({ name }) => name))('without %s', name => {
  it('a call is paid, its receipt verifies and its row is on the book; the feature is gone, and nothing else', async () => {
    const { features, supergraph, service, doors } = await openWithout(name);
    const agent = await service.newAgent();
    const session = { 'X-SVC-Session': agent.session };
    const { status, body } = await service.buy(agent.account, ask(), session);
    expect(status).toBe(200);
    const { task_id } = body.svc;
    const receipt = await service.get(`/receipt/${task_id}`);
    expect(verifyReceipt(receipt.body, await service.jwks())).toMatchObject({ kind: 'valid' });
    const book = await service.get(`/v1/agents/${agent.agent_id}/book`, session);
    expect(book.body).toMatchObject({ spent: '4000', entries: [{ task_id, evidence: 'collected' }, {}] });
    expect((await service.get('/health')).body).toMatchObject({ status: 'ok' });

    const gone = everyDoor.filter(door => !doors.some(other => other.name === door.name));
    const served = pathsOf((await service.get('/openapi.json')).body);
    const all = pathsOf(openApi(everyDoor, service.url));
    expect(served).toEqual(all.filter(path => !gone.some(door => door.path === path)));
    for (const { path, methods } of gone) {
      for (const method of methods) {
        const answer = await fetch(service.url + path.replace(/\{\w+\}/g, '1'), { method });
        expect([path, answer.status]).toEqual([path, 404]);
        await answer.body?.cancel();
      }
    }

    const tables = await service.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    );
    const made = namesOfTables(features);
    expect(tables.map(table => table.name).sort()).toEqual([...made, 'mikro_orm_migrations'].sort());
    expect(namesOfTables(everyFeature)).toHaveLength(made.length + tablesOf[name]);

    const fields = rootFields(publicSchema(supergraph));
    const every_field = rootFields(publicSchema(whole));
    expect(every_field).toEqual(expect.arrayContaining([...fields]));
    expect(every_field).toHaveLength(fields.length + rootFieldsOf[name]);
  });
});

it('a list with a feature but not one that it needs is refused before anything is opened', async () => {
  const features = everyFeature.filter(({ name }) => name !== 'totals');
  await expect(openWith(features)).rejects.toThrow(
    'the feature reconciliation needs the feature totals, which is not listed',
  );
});

describe('without envelopes', () => {
  it('a receipt has the forms of the core alone', async () => {
    const { service } = await openWithout('envelopes');
    const { task_id } = (await service.buy(await service.chain.newWallet())).body.svc;
    const path = `/receipt/${task_id}`;
    expect(await service.get(`${path}?format=cose`)).toMatchObject({
      status: 400,
      body: { error: { param: 'format' } },
    });
    const { headers } = await service.get(path, { accept: SCITT_STATEMENT });
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect((await service.get(`${path}?format=auditor`)).status).toBe(200);
  });
});

describe('without totals', () => {
  it('what has paid for a call is known by the receipts of its payer', async () => {
    const { service, features } = await openWithout('totals');
    const buyer = await service.chain.newWallet();
    await service.buy(buyer);
    const [moved] = await service.transfersFrom(buyer);
    const store = await openStore(service.database_url, { features });
    const transfer = {
      network: 'base',
      rail: 'usdc',
      asset: '',
      transaction: String(moved?.tx_hash),
      index: moved?.log_index ?? null,
      payer: buyer.address,
      pay_to: service.pay_to,
      amount: '2000',
    } as const;
    const isOwn = (index: number | null) =>
      isOwnTransfer({ database: store, payment_index: null }, { ...transfer, index });
    expect(await Promise.all([isOwn(transfer.index), isOwn(99_999), isOwn(null)])).toEqual([true, false, false]);
    await store.close();
  });
});
