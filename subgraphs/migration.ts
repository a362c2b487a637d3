/** A step of the schema, by the name of its class: statements that are run once, in one transaction with those of the other steps that are due. */
export abstract class Migration {
  readonly #statements: string[] = [];

  abstract up(): void;

  protected addSql(statement: string): void {
    this.#statements.push(statement);
  }

  /** What it comes to. */
  statements(): readonly string[] {
    if (this.#statements.length === 0) this.up();
    return this.#statements;
  }
}

export interface MigrationClass {
  new (): Migration;
  /** Of a baseline: the names of the migrations that made the same tables before there was one. */
  readonly replaces?: readonly string[];
}
