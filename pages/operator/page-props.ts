// The properties of every view: the parts of its address.

export interface PageProps {
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
}
