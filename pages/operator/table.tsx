// Tables that become lists of cards or short lines on a narrow page.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { EmptyProps } from './states.js';
import { Empty } from './states.js';

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  class?: string;
}

interface TableProps<Row> {
  /** A hidden caption. */
  caption: string;
  /** The first column names the row. */
  columns: readonly (Column<Row> | false)[];
  rows: readonly Row[];
  /** The details of a row. */
  details?: (row: Row) => ComponentChildren;
  isOpen?: boolean;
  /** Replaces a table without rows. */
  empty?: EmptyProps;
}

/** Explicit roles: browsers drop the implicit ones if CSS does not display rows as table rows. */
export function Table<Row>(props: TableProps<Row>) {
  const { caption, rows, details, isOpen = false, empty } = props;
  if (rows.length === 0 && empty !== undefined) return <Empty {...empty} />;
  const columns = props.columns.filter((column) => column !== false);
  return (
    <table role="table" class="card rows">
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, class: kind }) => (
            <th key={title} role="columnheader" scope="col" class={kind}>
              {title}
            </th>
          ))}
          {details && (
            <th role="columnheader" scope="col" class="action">
              More
            </th>
          )}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row, index) =>
          details ? (
            <OpeningRow key={index} columns={columns} row={row} details={details} isOpen={isOpen} />
          ) : (
            <tr key={index} role="row">
              <Cells columns={columns} row={row} />
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}

function Cells<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  return (
    <>
      {columns.map(({ title, cell, class: kind }, index) => {
        const content = (
          <>
            <span class="head" aria-hidden="true">
              {title}
            </span>
            <div>{cell(row)}</div>
          </>
        );
        return index === 0 ? (
          <th key={title} role="rowheader" scope="row" class={kind}>
            {content}
          </th>
        ) : (
          <td key={title} role="cell" class={kind}>
            {content}
          </td>
        );
      })}
    </>
  );
}

interface OpeningProps<Row> {
  columns: readonly Column<Row>[];
  row: Row;
  details: (row: Row) => ComponentChildren;
  isOpen: boolean;
}

function OpeningRow<Row>({ columns, row, details, isOpen: isOpenFirst }: OpeningProps<Row>) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  return (
    <>
      <tr role="row">
        <Cells columns={columns} row={row} />
        <td role="cell" class="action">
          <button type="button" class="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Details
          </button>
        </td>
      </tr>
      {isOpen && (
        <tr role="row" class="more">
          <td role="cell" colSpan={columns.length + 1}>
            {details(row)}
          </td>
        </tr>
      )}
    </>
  );
}
