import 'reflect-metadata';
import DataLoader from 'dataloader';
import { GraphQLJSONObject } from 'graphql-scalars';
import { Args, Ctx, Directive, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { taskNamedBy } from '../../../schema/ids.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { settlementBasis } from '../../../schema/receipt-payload.ts';
import { ReceiptNoun, type ReceiptPayload } from '../../../schema/receipt-shapes.ts';
import { IssuerSnapshotRequest, ReceiptPath, TaskQuery } from '../../../schema/requests/receipt.ts';
import { RevocationsPage } from '../../../schema/requests/session.ts';
import type { Context } from '../../context.ts';
import {
  type Arguments,
  argumentsType,
  descriptionOptions,
  givenMembers,
  readRequest,
  shownOf,
} from '../../graph-type.ts';
import { receiptAudit } from '../auditor/audit-documents.ts';
import type { ReceiptContext } from '../context.ts';
import { listedRevocations } from '../issuer/revoked-sessions.ts';
import { requireNotHalted } from '../log/halt-guard.ts';
import { receiptDocument } from './document.ts';
import { readReceipts } from './find.ts';
import { SignedPayload, SignedPayloadNoun } from './payload.type.ts';
import { Receipt } from './receipt.entity.ts';
import { outcomeUnlessHalted, Task, taskUnlessHalted } from './task-status.ts';

const ReceiptArguments = argumentsType(ReceiptPath);
const TaskArguments = argumentsType(TaskQuery);
const SnapshotArguments = argumentsType(IssuerSnapshotRequest);
const RevocationsArguments = argumentsType(RevocationsPage);

@Resolver(() => Receipt)
export class ReceiptResolver {
  @Query(() => Receipt, {
    nullable: true,
    description: 'A receipt by its task id. Public. Null if there is none, or on error.',
  })
  async receipt(
    @Args(() => ReceiptArguments) asked: Arguments,
    @Ctx() context: ReceiptContext,
  ): Promise<Receipt | null> {
    const { task_id } = givenMembers(ReceiptPath, asked);
    return outcomeUnlessHalted(context.database, await receiptsOf(context).load(task_id));
  }

  @Query(() => Task, {
    nullable: true,
    description: 'State of a task, by the id of the task or of its answer. Null if there is none, or on error.',
  })
  async taskStatus(@Args(() => TaskArguments) asked: Arguments, @Ctx() context: ReceiptContext): Promise<Task | null> {
    const { task_id } = givenMembers(TaskQuery, asked);
    return taskUnlessHalted(context.database, await context.findTask(taskNamedBy(task_id)));
  }

  @FieldResolver(() => String, descriptionOptions(ReceiptNoun.shape.verify_url))
  verifyUrl(@Root() receipt: Receipt, @Ctx() context: ReceiptContext): string {
    return verifyUrl(context.base_url, receipt.taskId);
  }

  @Directive('@cost(weight: 10)')
  @FieldResolver(() => SignedPayload, {
    name: 'payload',
    description: 'Signed payload of the receipt, member by member.',
  })
  signedPayload(@Root() { payload }: Receipt): object {
    const signed = JSON.parse(payload) as ReceiptPayload;
    const settlement_basis = settlementBasis(signed) as ReceiptPayload['settlement_basis'];
    return shownOf(SignedPayloadNoun, { ...signed, settlement_basis });
  }

  /** The cost is 10, because the whole document is made again for each request. */
  @Directive('@cost(weight: 10)')
  @FieldResolver(() => GraphQLJSONObject, {
    description: 'The whole public receipt, as GET /receipt/{task_id} shows it.',
  })
  document(@Root() receipt: Receipt, @Ctx() context: ReceiptContext): JsonObject {
    return receiptDocument(receipt, context.base_url, context.profile, context.newestSize());
  }

  /** The cost is 50, because about six statements run, each over O(log n) rows. */
  @Directive('@cost(weight: 50)')
  @FieldResolver(() => GraphQLJSONObject, {
    description: 'The receipt with everything an auditor needs, as GET /receipt/{task_id}?format=auditor shows it.',
  })
  auditorDocument(@Root() receipt: Receipt, @Ctx() context: ReceiptContext): Promise<JsonObject> {
    return receiptAudit(receipt, context);
  }
}

@Resolver()
export class IssuerResolver {
  @Query(() => GraphQLJSONObject, { description: 'Public keys of the issuer, as a JWK Set (RFC 7517).' })
  async jwks(@Ctx() { issuer }: ReceiptContext): Promise<JsonObject> {
    await issuer.renew();
    return issuer.jwks;
  }

  @Query(() => GraphQLJSONObject, {
    description: 'DID document (did:web) of this service, with the keys that sign x402 offers and receipts.',
  })
  async didDocument(@Ctx() { issuer }: ReceiptContext): Promise<JsonObject> {
    await issuer.renew();
    return issuer.did.document;
  }

  @Query(() => GraphQLJSONObject, {
    nullable: true,
    description:
      'Snapshot of the keys of the issuer: the current one, or an older one by version or hash. Null if there is no such snapshot.',
  })
  async issuerHistory(
    @Args(() => SnapshotArguments) asked: Arguments,
    @Ctx() { issuer, database }: ReceiptContext,
  ): Promise<JsonObject | null> {
    requireNotHalted(database);
    await issuer.renew();
    return issuer.historySnapshot(givenMembers(IssuerSnapshotRequest, asked));
  }

  @Query(() => GraphQLJSONObject, {
    nullable: true,
    description:
      'Keys that no longer sign, and since when, with a page of revoked sessions, newest first. Null only on error.',
  })
  async revocations(
    @Args(() => RevocationsArguments) asked: Arguments,
    @Ctx() { issuer, database }: ReceiptContext,
  ): Promise<JsonObject> {
    requireNotHalted(database);
    const page = readRequest(RevocationsPage, asked);
    await issuer.renew();
    return { ...issuer.revocations, ...(await listedRevocations(database, page)) };
  }

  @Query(() => GraphQLJSONObject, {
    description: 'All receipt policies so far, oldest first. The list is append-only.',
  })
  async receiptPolicyHistory(@Ctx() { issuer, database }: ReceiptContext): Promise<JsonObject> {
    requireNotHalted(database);
    await issuer.renew();
    return issuer.policyHistory;
  }
}

const loaders = new WeakMap<Context, DataLoader<string, Receipt | null>>();

/** Loads all receipts of a request with one read. They are not cached, because the context of a subscription lives for hours. */
function receiptsOf(context: Context): DataLoader<string, Receipt | null> {
  const known = loaders.get(context);
  if (known) return known;
  const loader = new DataLoader<string, Receipt | null>(ids => readReceipts(context.database, ids), { cache: false });
  loaders.set(context, loader);
  return loader;
}

/** `__resolveReference` of Receipt, because books and posts identify a receipt by its key alone. */
export function receiptReference(
  reference: { readonly taskId: string },
  context: ReceiptContext,
): Promise<Receipt | null> {
  return receiptsOf(context).load(reference.taskId);
}
